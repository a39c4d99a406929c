import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { createInterface } from 'node:readline'
import { parseEngineAddress } from '#/engines/docker/engine-address.ts'
import { engineAddress } from './engine.ts'

/**
 * Follows the events of a container of the machine's own engine, without the adapter in between.
 * @param onAction gets the engine's words, such as `die` @returns ends it, once the engine has answered
 */
export async function followEvents(id: string, onAction: (action: string) => void): Promise<() => void> {
  const { origin, socketPath } = parseEngineAddress(engineAddress)
  const filters = encodeURIComponent(JSON.stringify({ container: [id] }))
  const asked = request(new URL(`/events?filters=${filters}`, origin), { socketPath }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  asked.on('error', () => undefined)
  const lines = createInterface({ input: answer })
  // Closing it ends the answer early, which is an error of both.
  for (const each of [answer, lines]) each.on('error', () => undefined)
  lines.on('line', (line) => onAction((JSON.parse(line) as { Action: string }).Action))
  return () => void asked.destroy()
}
