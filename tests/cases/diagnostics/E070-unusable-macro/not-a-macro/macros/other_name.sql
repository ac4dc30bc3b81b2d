-- expect: E070
CREATE MACRO this_name() RETURN 1
