import type { RuntimeContainer } from '#/engines/runtime.ts'
import { read, shell } from './runtimes.ts'
import { waitLimit } from '../extent.ts'

/** Says its name on port 8080; asked for `cgi-bin/try?ADDRESS:PORT` it says what it reads there, if anything. */
export const prober = (name: string) =>
  shell(`echo I am ${name} > /tmp/index.html; mkdir /tmp/cgi-bin; cat > /tmp/cgi-bin/try << 'END'
#!/bin/sh
printf 'Content-type: text/plain\\r\\n\\r\\n'
printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 5 \${QUERY_STRING%:*} \${QUERY_STRING##*:} 2>&1
echo "exit code $?"
END
chmod +x /tmp/cgi-bin/try`)

/** What a program in the container reads there, and how its attempt ended. */
export async function tries(from: Pick<RuntimeContainer, 'address' | 'port'>, to: string): Promise<string> {
  await read(from)
  const answer = await fetch(`http://${from.address}:${from.port}/cgi-bin/try?${to}`, {
    signal: AbortSignal.timeout(waitLimit(30_000)),
  })
  return answer.text()
}
