SELECT count(email) AS logins FROM stg
