"""Sources: functions of time as states of an exosystem, and what is fed to inputs."""
