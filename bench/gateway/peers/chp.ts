import { freePort, listening, proxyCore, start } from '../process.ts'
import { programs } from '../programs.ts'
import type { Target } from '../proxies.ts'
import type { Tokens } from '../credentials.ts'
import { routes } from '../routes.ts'

/** JupyterHub's configurable-http-proxy with all routes, added through its API. */
export async function startChp(backend: number, tokens: Tokens): Promise<Target> {
  const [port, api] = [await freePort(), await freePort()]
  const addresses = ['--ip', '127.0.0.1', '--port', String(port), '--api-ip', '127.0.0.1', '--api-port', String(api)]
  const options = ['--no-include-prefix', '--log-level', 'error']
  const started = start('chp', proxyCore, [process.execPath, programs.chp, ...addresses, ...options])
  await listening('chp', started, api)
  await listening('chp', started, port)
  for (const { prefix, host } of routes()) {
    const body = JSON.stringify({ target: `http://${host}:${backend}` })
    const { status } = await fetch(`http://127.0.0.1:${api}/api/routes/${prefix}`, { method: 'POST', body })
    if (status !== 201) throw new Error(`configurable-http-proxy answered ${status} to a new route`)
  }
  return { name: 'chp', port, tokens, ...started }
}
