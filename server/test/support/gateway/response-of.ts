import type { TestContext } from 'node:test'
import { startGatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { get, type Answer } from '#test/support/gateway/raw-client.ts'
import { httpApp } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'

export async function responseWith(
  t: TestContext,
  lines: readonly (readonly [string, string])[],
  changes: HarnessOptions = {},
): Promise<Answer> {
  const app = httpApp((_, response) => response.writeHead(200, lines.flat()).end('x'))
  const { port } = await startGatewayHarness(t, app, changes)
  return get(port, '/ann-dev/', { headers: { ...ann, host: 'Spawner.test:8080' } })
}

export async function responseHeader(
  t: TestContext,
  name: string,
  value: string,
  changes: HarnessOptions = {},
): Promise<unknown> {
  return (await responseWith(t, [[name, value]], changes)).headers[name.toLowerCase()]
}
