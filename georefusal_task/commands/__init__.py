"""The `georefusal` commands, one file each; `georefusal_task.cli` puts them together."""
