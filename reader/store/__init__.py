"""Read object stores and HTTP servers; only this room imports obstore.

`urls` checks URLs, `credentials` sends a credential provider to other processes, and `client` reads
objects through a `transport`. Its backend is the `library`, or `headed` for headers of the user's
own; in a fetching process, most `ranges` come by `http` instead. `limits` bounds requests and
answers, and `errors` explains failures.
"""
