"""What a name can mean: functions and tables."""
