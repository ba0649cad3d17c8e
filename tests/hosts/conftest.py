"""The tests here need every harness: a developer's environment may lack some, CI's may not."""

from support.harnesses import LEFT_OUT

collect_ignore_glob = ["test_*.py"] if LEFT_OUT else []
