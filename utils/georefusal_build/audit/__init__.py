"""The leakage audit: can a set's labels be guessed without seeing what is asked about?

`run.audit(folder)` -> `Audit`; `page.markdown(audit)` and `page.to_json(audit)` write it down.
"""
