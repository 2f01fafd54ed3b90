"""The independent checker of derivations: plain tables in, a verdict on each step out.

It imports nothing of dpspec but its errors, so it shares no code with what finds derivations.
"""
