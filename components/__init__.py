"""Component library, one package per domain: import classes from the domain, ``acausal.components.electrical``."""
