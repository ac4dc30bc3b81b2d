"""A stand-in for a catalogue's REST interface: a process that keeps what it is told.

`python catalogue_stand_in.py unity|databricks|ranger` serves on a free port of loopback and prints
it. It refuses what the real ones refuse, with their status codes and bodies: unknown principals,
unknown privileges, tags and masks where there are none, SQL that it does not know. `/_control`
takes what a test wants to be so, `/_log` gives the requests that were made.
"""

import base64
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

KIND = sys.argv[1] if len(sys.argv) > 1 else "unity"
TOKEN = "s3cret-token"
USER = "admin"
API = "/api/2.1/unity-catalog"
OPEN = (
    "CREATE CATALOG, USE CATALOG, CREATE SCHEMA, USE SCHEMA, CREATE TABLE, SELECT, MODIFY,"
    " CREATE FUNCTION, EXECUTE, CREATE VOLUME, READ VOLUME, CREATE MODEL"
)
PRIVILEGES = set(OPEN.split(", "))
if KIND == "databricks":
    PRIVILEGES = {each.replace(" ", "_") for each in PRIVILEGES} | {"BROWSE", "MANAGE"}
LEVELS = ("metastore", "catalog", "schema", "table", "function", "volume")
ACCESSES = ("select", "update", "create", "drop", "alter", "index", "lock", "read", "write", "all")

MASKS = "MASK, MASK_SHOW_LAST_4, MASK_SHOW_FIRST_4, MASK_HASH, MASK_NULL, MASK_NONE,"
MASK_TYPES = f"{MASKS} MASK_DATE_SHOW_YEAR, CUSTOM".split(", ")
TYPES = (
    "BOOLEAN BYTE SHORT INT LONG FLOAT DOUBLE DATE TIMESTAMP TIMESTAMP_NTZ STRING BINARY DECIMAL"
    " INTERVAL ARRAY STRUCT MAP VARIANT CHAR NULL USER_DEFINED_TYPE TABLE_TYPE"
).split()

STATE: dict[str, Any] = {}
LOG: list[dict[str, Any]] = []


def reset() -> None:
    STATE.clear()
    LOG.clear()
    STATE.update(
        users=[], groups=[], securables=[], grants={}, tags={}, masks={}, filters={}, functions={},
        policies={}, next_id=1, faults=[], deaf=[], bindings={}, isolation={}, services=["spark"],
        columns={}, tables={},
    )  # fmt: skip


reset()


class Refused(Exception):
    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.status, self.body = status, body


def unity_error(status: int, code: str, message: str) -> Refused:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code}]
    return Refused(status, {"error_code": code, "message": message, "details": details})


def ranger_error(status: int, message: str) -> Refused:
    return Refused(status, {"statusCode": 1, "msgDesc": message})


# ------------------------------------------------------------------------------ unity catalog


def permissions(level: str, name: str) -> dict[str, list[str]]:
    if level not in LEVELS:
        raise unity_error(404, "NOT_FOUND", f"no route for {level}")
    if [level, name] not in STATE["securables"]:
        code = f"{level.upper()}_NOT_FOUND"
        raise unity_error(404, code, f"{level.capitalize()} not found: {name}")
    return STATE["grants"].setdefault(f"{level}|{name}", {})


def assignments(grants: dict[str, list[str]], only: set[str] | None = None) -> Any:
    return {
        "privilege_assignments": [
            {"principal": principal, "privileges": privileges}
            for principal, privileges in grants.items()
            if privileges and (only is None or principal in only)
        ]
    }


def update(level: str, name: str, body: Any) -> Any:
    for change in body["changes"]:
        for privilege in (*change["add"], *change["remove"]):
            if privilege not in PRIVILEGES:
                message = f"Unexpected value '{privilege}'"
                raise unity_error(400, "INVALID_ARGUMENT", message)
    grants = permissions(level, name)
    for change in body["changes"]:
        principal = change["principal"]
        if principal not in (*STATE["users"], *(STATE["groups"] if KIND == "databricks" else ())):
            # What came before in the list has been done.
            raise unity_error(404, "NOT_FOUND", f"User not found: {principal}")
        has = grants.setdefault(principal, [])
        has += [each for each in change["add"] if each not in has]
        if principal not in STATE["deaf"]:
            grants[principal] = [each for each in has if each not in change["remove"]]
    return assignments(grants, {change["principal"] for change in body["changes"]})


def unity(method: str, path: str, query: Any, body: Any) -> Any:
    if found := re.fullmatch(rf"{API}/permissions/([^/]+)/([^/]+)", path):
        level, name = found[1], unquote(found[2])
        if method == "GET":
            return assignments(permissions(level, name))
        if method == "PATCH":
            return update(level, name, body)
    if KIND == "databricks":
        return databricks(method, path, body)
    if path == f"{API}/tables" and method == "POST":
        return create_table(body)
    if found := re.fullmatch(rf"{API}/tables/([^/]+)", path):
        name = unquote(found[1])
        permissions("table", name)
        if method == "GET":
            return STATE["tables"].get(name, {"name": name, "columns": []})
        if method == "DELETE":
            STATE["securables"].remove(["table", name])
            STATE["tables"].pop(name, None)
            STATE["grants"].pop(f"table|{name}", None)
            return ""
    raise unity_error(404, "NOT_FOUND", f"no route: {method} {path}")


def create_table(body: Any) -> Any:
    schema = f"{body['catalog_name']}.{body['schema_name']}"
    full = f"{schema}.{body['name']}"
    if not re.fullmatch(r"[^. /\x00-\x1f]+", body["name"]):
        raise unity_error(400, "INVALID_ARGUMENT", "Name cannot contain a period, space, ...")
    columns = []
    for column in body["columns"]:
        field = json.loads(column["type_json"])
        if {"name", "type", "nullable", "metadata"} - set(field) or field["name"] != column["name"]:
            message = f"Invalid type_json for column {column['name']}"
            raise unity_error(400, "INVALID_ARGUMENT", message)
        if field["nullable"] != column["nullable"] or column["type_name"] not in TYPES:
            raise unity_error(400, "INVALID_ARGUMENT", f"Invalid column {column['name']}")
        columns.append({**column, "type_text": column["type_text"].lower()})
    permissions("catalog", body["catalog_name"])
    permissions("schema", schema)
    if ["table", full] in STATE["securables"]:
        raise unity_error(400, "TABLE_ALREADY_EXISTS", f"Table already exists: {full}")
    if body["table_type"] != "EXTERNAL" or not body.get("storage_location"):
        raise unity_error(400, "INVALID_ARGUMENT", "Only external tables here")
    location = re.sub(r"^(file:)?/+", "file:///", body["storage_location"]).rstrip("/")
    STATE["securables"].append(["table", full])
    STATE["tables"][full] = {**body, "columns": columns, "storage_location": location}
    return STATE["tables"][full]


# --------------------------------------------------------------------------------- databricks

NAME = r"((?:`[^`]+`\.?)+)"
TEXT = r"'((?:[^'\\]|\\.)*)'"


def plain(name: str) -> str:
    return name.replace("`", "")


def unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def failed(code: str, message: str) -> Any:
    error = {"error_code": code, "message": message}
    return {"statement_id": "1", "status": {"state": "FAILED", "error": error}}


def succeeded(rows: list[list[Any]] | None = None) -> Any:
    answer: Any = {"statement_id": "1", "status": {"state": "SUCCEEDED"}}
    if rows is not None:
        answer["result"] = {"data_array": rows}
    return answer


def run_statement(text: str) -> Any:  # noqa: C901, PLR0911, PLR0912 - a line a statement
    if found := re.fullmatch(
        rf"ALTER (CATALOG|SCHEMA|TABLE) {NAME} SET TAGS \({TEXT} = {TEXT}\)", text
    ):
        place = [found[1].lower(), plain(found[2])]
        if place not in STATE["securables"]:
            return failed("NOT_FOUND", f"[TABLE_OR_VIEW_NOT_FOUND] {place[1]} cannot be found")
        STATE["tags"].setdefault("|".join(place), {})[unquoted(found[3])] = unquoted(found[4])
        return succeeded()
    if found := re.fullmatch(rf"ALTER (CATALOG|SCHEMA|TABLE) {NAME} UNSET TAGS \({TEXT}\)", text):
        STATE["tags"].get(f"{found[1].lower()}|{plain(found[2])}", {}).pop(found[3], None)
        return succeeded()
    made = rf"CREATE OR REPLACE FUNCTION {NAME}\((.+?)\) RETURN (.+)"
    if found := re.fullmatch(made, text, re.DOTALL):
        STATE["functions"][plain(found[1])] = found[3]
        return succeeded()
    if found := re.fullmatch(rf"ALTER TABLE {NAME} ALTER COLUMN {NAME} SET MASK {NAME}", text):
        if plain(found[3]) not in STATE["functions"]:
            return failed("NOT_FOUND", f"[UNRESOLVED_ROUTINE] {plain(found[3])}")
        if ["table", plain(found[1])] not in STATE["securables"]:
            return failed("NOT_FOUND", f"[TABLE_OR_VIEW_NOT_FOUND] {plain(found[1])}")
        columns = STATE["columns"].get(plain(found[1]))
        if columns is not None and plain(found[2]) not in columns:
            return failed("BAD_REQUEST", f"[FIELD_NOT_FOUND] No such column {plain(found[2])}")
        STATE["masks"].setdefault(plain(found[1]), {})[plain(found[2])] = plain(found[3])
        return succeeded()
    if found := re.fullmatch(rf"ALTER TABLE {NAME} ALTER COLUMN {NAME} DROP MASK", text):
        STATE["masks"].get(plain(found[1]), {}).pop(plain(found[2]), None)
        return succeeded()
    if found := re.fullmatch(rf"ALTER TABLE {NAME} SET ROW FILTER {NAME} ON \((.+)\)", text):
        if plain(found[2]) not in STATE["functions"]:
            return failed("NOT_FOUND", f"[UNRESOLVED_ROUTINE] {plain(found[2])}")
        if ["table", plain(found[1])] not in STATE["securables"]:
            return failed("NOT_FOUND", f"[TABLE_OR_VIEW_NOT_FOUND] {plain(found[1])}")
        STATE["filters"][plain(found[1])] = plain(found[2])
        return succeeded()
    if found := re.fullmatch(rf"ALTER TABLE {NAME} DROP ROW FILTER", text):
        STATE["filters"].pop(plain(found[1]), None)
        return succeeded()
    asked = r"SELECT tag_name, tag_value FROM `[^`]+`\.information_schema\.(\w+)_tags WHERE (.+)"
    if found := re.fullmatch(asked, text):
        name = ".".join(re.findall(TEXT, found[2]))
        tags = {
            key: value
            for place, held in STATE["tags"].items()
            if place.lower() == f"{found[1]}|{name}"
            for key, value in held.items()
        }
        return succeeded([[key, value] for key, value in tags.items()])
    return failed("BAD_REQUEST", "[PARSE_SYNTAX_ERROR] Syntax error at or near")


def catalog_call(method: str, what: str, name: str, body: Any) -> Any:
    permissions("catalog", name)
    bound = STATE["bindings"].setdefault(name, {})
    if what == "catalogs":
        if method == "PATCH":
            if body.get("isolation_mode") not in ("OPEN", "ISOLATED"):
                raise unity_error(400, "INVALID_PARAMETER_VALUE", "isolation_mode")
            STATE["isolation"][name] = body["isolation_mode"]
            # It stays reachable from where it was isolated.
            bound.setdefault("1", "BINDING_TYPE_READ_WRITE")
        return {"name": name, "isolation_mode": STATE["isolation"].get(name, "OPEN")}
    if method == "PATCH":
        if STATE["isolation"].get(name) != "ISOLATED":
            raise unity_error(400, "INVALID_STATE", f"{name} is not isolated")
        for each in body.get("add") or ():
            bound[str(each["workspace_id"])] = each["binding_type"]
        for each in body.get("remove") or ():
            bound.pop(str(each["workspace_id"]), None)
    bindings = [{"workspace_id": int(key), "binding_type": value} for key, value in bound.items()]
    return {"bindings": bindings}


def databricks(method: str, path: str, body: Any) -> Any:
    if path == "/api/2.0/sql/statements" and method == "POST":
        if body.get("warehouse_id") != "wh1":
            raise Refused(404, {"error_code": "NOT_FOUND", "message": "no such warehouse"})
        return run_statement(body["statement"])
    if found := re.fullmatch(rf"{API}/(catalogs|bindings/catalog)/([^/]+)", path):
        return catalog_call(method, found[1], unquote(found[2]), body)
    if method == "GET" and (found := re.fullmatch(rf"{API}/tables/([^/]+)", path)):
        name = unquote(found[1])
        permissions("table", name)
        masks = STATE["masks"].get(name, {})
        columns = [{"name": each} for each in STATE["columns"].get(name, ()) if each not in masks]
        columns += [{"name": each, "mask": {"function_name": masks[each]}} for each in masks]
        answer: Any = {"full_name": name, "columns": columns}
        if name in STATE["filters"]:
            answer["row_filter"] = {"function_name": STATE["filters"][name]}
        return answer
    raise unity_error(404, "ENDPOINT_NOT_FOUND", f"no route: {method} {path}")


# ------------------------------------------------------------------------------------- ranger


def check_policy(policy: Any, own: int | None) -> None:  # noqa: C901, PLR0912 - all that Ranger refuses
    if policy.get("service") not in STATE["services"]:
        raise ranger_error(400, f"service does not exist: {policy.get('service')}")
    kind = policy.get("policyType", 0)
    items = policy.get(("policyItems", "dataMaskPolicyItems", "rowFilterPolicyItems")[kind]) or []
    for item in items:
        for user in item.get("users") or ():
            if user not in STATE["users"]:
                message = f"Operation denied. User name: {user} specified in policy does not exist"
                raise ranger_error(400, message)
        for group in item.get("groups") or ():
            if group not in (*STATE["groups"], "public"):
                message = (
                    f"Operation denied. Group name: {group} specified in policy does not exist"
                )
                raise ranger_error(400, message)
        if any(each["type"] not in ACCESSES for each in item["accesses"]):
            raise ranger_error(400, "access type is invalid")
        info = item.get("dataMaskInfo") or {}
        if kind == 1 and info.get("dataMaskType") not in MASK_TYPES:
            raise ranger_error(400, f"{info.get('dataMaskType')}: is not a valid datamask-type")
        said = info.get("valueExpr") or (item.get("rowFilterInfo") or {}).get("filterExpr") or ""
        if len(said) > 1024 or (info.get("dataMaskType") == "CUSTOM" and not said):
            raise ranger_error(500, "Data too long for column, or missing")
    if (kind == 1) != ("column" in policy["resources"]) and kind:
        raise ranger_error(400, "invalid resource set specified")
    for number, other in STATE["policies"].items():
        if int(number) == own or other["service"] != policy["service"]:
            continue
        if other["name"] == policy["name"]:
            raise ranger_error(400, f"Another policy already exists for this name: {number}")
        signature = (other.get("policyType", 0), other["resources"])
        if signature == (kind, policy["resources"]):
            name = other["name"]
            message = f"Another policy already exists for matching resource: policy-name=[{name}]"
            raise ranger_error(400, message)


def ranger(method: str, path: str, query: Any, body: Any) -> Any:
    base = "/service/public/v2/api/policy"
    policies = STATE["policies"]
    if path == base and method == "GET":
        (service,) = query.get("serviceName", ["spark"])
        found = [each for each in policies.values() if each["service"] == service]
        start, size = (int(query.get(key, ["0"])[0]) for key in ("startIndex", "pageSize"))
        return found[start : start + (size or 200)]
    if path == base and method == "POST":
        check_policy(body, None)
        number = STATE["next_id"]
        STATE["next_id"] += 1
        policies[str(number)] = {**body, "id": number, "version": 1}
        return policies[str(number)]
    if found := re.fullmatch(rf"{base}/(\d+)", path):
        if found[1] not in policies:
            raise ranger_error(404, f"no policy found with id: {found[1]}")
        if method == "PUT":
            check_policy(body, int(found[1]))
            version = policies[found[1]]["version"] + 1
            policies[found[1]] = {**body, "id": int(found[1]), "version": version}
            return policies[found[1]]
        if method == "DELETE":
            del policies[found[1]]
            return None
        return policies[found[1]]
    raise ranger_error(404, "no route")


class Handler(BaseHTTPRequestHandler):
    def serve(self) -> None:
        parts = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        if parts.path == "/_control":
            if body is None:
                self.answer(200, STATE)
                return
            if body.pop("reset", False):
                reset()
            STATE.update(body)
            self.answer(200, {})
            return
        if parts.path == "/_log":
            self.answer(200, LOG)
            return
        LOG.append({"method": self.command, "path": parts.path, "body": body})
        try:
            self.refuse_strangers()
            self.fail_on_demand(body)
            part = ranger if KIND == "ranger" else unity
            found = part(self.command, parts.path, parse_qs(parts.query), body)
        except Refused as refused:
            self.answer(refused.status, refused.body)
            return
        self.answer(200 if found is not None else 204, found)

    def refuse_strangers(self) -> None:
        pair = base64.b64encode(f"{USER}:{TOKEN}".encode()).decode()
        wanted = f"Basic {pair}" if KIND == "ranger" else f"Bearer {TOKEN}"
        given = self.headers.get("Authorization")
        if given != wanted:
            # Some servers say what they were given.
            raise unity_error(401, "UNAUTHENTICATED", f"Invalid access token: {given}")

    def fail_on_demand(self, body: Any) -> None:
        for fault in STATE["faults"]:
            wanted = fault["method"] == self.command and fault.get("holds", "") in json.dumps(body)
            if wanted and fault["count"] > 0:
                fault["count"] -= 1
                if fault["status"] in (301, 302, 307):
                    raise Refused(fault["status"], {"_location": fault["location"]})
                said = {"message": fault.get("message", "as was wanted")}
                raise Refused(fault["status"], fault.get("body", said))

    do_GET = do_PATCH = do_POST = do_PUT = do_DELETE = serve  # noqa: N815 - as they are called

    def answer(self, status: int, body: Any) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if isinstance(body, dict) and "_location" in body:
            self.send_header("Location", body["_location"])
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
