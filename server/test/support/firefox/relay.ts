import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { WebSocket, WebSocketServer, type RawData } from 'ws'
import { FirefoxWindow, type BidiCommand } from './firefox-window.ts'

/**
 * Firefox with a relay before its WebDriver BiDi: `relay.sh` takes the arguments of Firefox and says, as Firefox does, where it
 * listens. Every message passes unchanged but `emulation.setMediaFeaturesOverride`, which Playwright sends for each context and
 * Firefox 153 does not know, and events of downloads; before `browsingContext.activate` the page gets the focus. The relay ends
 * with Firefox, and Firefox with the relay's process group.
 */

const firefox = spawn(process.env.FIREFOX ?? 'firefox-esr', process.argv.slice(2), {
  stdio: ['ignore', 'inherit', 'pipe'],
})
firefox.on('exit', (code) => process.exit(code ?? 1))

createInterface({ input: firefox.stderr }).on('line', async (line) => {
  const address = /^WebDriver BiDi listening on (ws:\/\/.*)$/.exec(line)?.[1]
  say(address === undefined ? line : `WebDriver BiDi listening on ws://127.0.0.1:${await listen(address)}`)
})

const say = (line: string) => process.stderr.write(`${line}\n`)

/** Listens on loopback for clients of `address`. @returns the port */
async function listen(address: string): Promise<number> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  server.on('connection', (client, { url = '' }) => relay(client, new WebSocket(address + url)))
  await once(server, 'listening')
  const bound = server.address()
  if (typeof bound !== 'object' || bound === null) throw new Error('The relay has no port.')
  return bound.port
}

function relay(client: WebSocket, upstream: WebSocket): void {
  const isOpen = once(upstream, 'open')
  const own = new FirefoxWindow((command) => upstream.send(JSON.stringify(command)))
  client.on('message', async (data) => {
    await isOpen
    const text = textOf(data)
    const command = JSON.parse(text) as BidiCommand
    if (command.method === 'emulation.setMediaFeaturesOverride')
      return client.send(JSON.stringify({ id: command.id, ...(await own.setMediaFeatures(command.params)) }))
    if (command.method === 'browsingContext.activate') await own.focusPage(command.params)
    upstream.send(text)
  })
  upstream.on('message', (data) => {
    const text = textOf(data)
    if (!own.takesAnswer(text)) client.send(withDownload(text))
  })
  client.on('close', () => upstream.close())
  for (const end of [upstream, client]) end.on('error', () => client.close())
  upstream.on('close', () => client.close())
}

/**
 * Playwright tells downloads apart by the id of the download or of the navigation that began it. Firefox 153 sends no id of
 * downloads, and no navigation begins that of a link with `download`: Playwright drops its events. The address is its id then.
 */
function withDownload(text: string): string {
  if (!text.includes('"browsingContext.download')) return text
  const message = JSON.parse(text) as { params?: { navigation?: string | null; url?: string } }
  const { navigation, url } = message.params ?? {}
  return JSON.stringify({ ...message, params: { ...message.params, download: navigation ?? url } })
}

const textOf = (data: RawData) => (data as Buffer).toString()
