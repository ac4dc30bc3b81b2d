-- expect: E060
CREATE MACRO this_name() RETURN 1
