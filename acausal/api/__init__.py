"""What users call: programs, runs that advance step by step, and the verbs that span all stages."""
