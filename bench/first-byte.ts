import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { askEngine } from '../server/test/support/engine/engine.ts'

/** Timeout in ms for an app to listen after its start. */
const listenTimeout = 10_000

/** The engine gives a container another address at each start, so it must be inspected. */
export async function addressOf(id: string): Promise<string> {
  const { NetworkSettings } = await askEngine<{ NetworkSettings: { Networks: Record<string, { IPAddress: string }> } }>(
    'GET',
    `/containers/${id}/json`,
  )
  return Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? ''
}

/** Polls until the app listens. @throws {Error} the last refusal, after `listenTimeout` */
export async function askApp(host: string): Promise<string> {
  const end = performance.now() + listenTimeout
  for (;;) {
    try {
      return await firstByte(host, 8080, '/')
    } catch (error) {
      if (performance.now() > end) throw error
      await sleep(1)
    }
  }
}

/** On a new connection, as after a pause. @returns the beginning of the response */
export async function firstByte(host: string, port: number, path: string, token = ''): Promise<string> {
  const socket = connect({ host, port, noDelay: true })
  socket.setTimeout(60_000, () => socket.destroy(new Error('no answer within a minute')))
  const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}:${port}`, `Authorization: Bearer ${token}`, 'Connection: close']
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  for await (const bytes of socket) return (bytes as Buffer).toString('latin1', 0, 60)
  throw new Error(`${host} ended the connection without an answer`)
}
