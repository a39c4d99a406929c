/**
 * Script of an app for a shell and BusyBox: it answers every request with a text, and echoes what it hears after an upgrade.
 * @param body in double quotes of the shell, evaluated for each request @param before lines to run before it listens
 */
export const shellApp = (body: string, { contentType = 'text/plain', before = '' } = {}): string => `
cat > /tmp/serve <<'END'
while IFS= read -r line; do
  line=\${line%$(printf '\\r')}
  case "$line" in '') break ;; [Uu]pgrade:*) upgrade=1 ;; esac
done
if [ -n "$upgrade" ]; then
  printf 'HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n'
  exec cat
fi
body="${body}"
printf 'HTTP/1.1 200 OK\\r\\nContent-Type: ${contentType}\\r\\nContent-Length: %s\\r\\nConnection: close\\r\\n\\r\\n%s' "\${#body}" "$body"
END
${before}
exec nc -ll -p 8080 -e /bin/sh /tmp/serve
`
