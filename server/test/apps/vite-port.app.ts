import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { installPackages } from './support/install-npm-packages.ts'
import { runApp } from './support/run-app.ts'
import { watchTraffic } from './support/traffic.ts'

/** Vite on a further port, with the configuration that docs/how-to/open-further-ports.md shows. */
const docs = readFileSync(path.resolve(import.meta.dirname, '../../../docs/how-to/open-further-ports.md'), 'utf8')
const [, shown = ''] = /```js\n(\/\/ vite\.config\.js\n[^`]*(?:`[^`\n]+`[^`]*)*)```/.exec(docs) ?? []
assert.match(shown, /export default/)

const start = `cd /home/berth/project
cat > shown.config.js <<'END'
${shown}
END
cat > port.config.js <<'END'
import react from '@vitejs/plugin-react'
import shown from './shown.config.js'
export default { ...shown, plugins: [react(), ...shown.plugins] }
END
node_modules/.bin/vite --config port.config.js &
exec node --eval "require('node:http').createServer((_, answer) => answer.end('main')).listen(8080)"
`
const app = await runApp({ after }, await appImage('vite', (folder) => installPackages(folder)), {
  vite: { port: 8080, memory: '512m', home: null, command: ['sh', '-c', start] },
})
const { page, context } = app
const main = await app.open('vite')
const address = `${main.home.slice(0, -1)}:5173/`
const heading = (text: string) => page.getByRole('heading', { name: text }).waitFor()
const edit = (script: string, file: string) => main.shell(`cd /home/berth/project && sed -i '${script}' ${file}`)

test('a page that is opened before Vite listens gives way to it by itself', async () => {
  await page.goto(address)
  await heading('First words')
})

test('all of the page comes from below the prefix of the port, from a program that listens on loopback alone', async () => {
  const traffic = watchTraffic(context, address)
  await page.reload({ waitUntil: 'networkidle' })
  await heading('First words')
  assert.deepEqual(traffic.outside, [])
  assert.deepEqual(traffic.failed, [])
  assert.ok(traffic.sockets.some(({ isOpen }) => isOpen))
  const { ports } = (await app.ann.call('GET', '/api/container/ports/vite')).body
  assert.equal(ports.find(({ port }: { port: number }) => port === 5173)?.is_loopback, true)
})

test('editing a component shows the new words without a reload, and keeps what the page remembers', async () => {
  await page.getByRole('button', { name: 'Pressed 0' }).click()
  await page.evaluate('window.wasNotReloaded = true')
  await edit('s/First words/Second words/', 'src/app.jsx')
  await heading('Second words')
  await page.getByRole('button', { name: 'Pressed 1' }).waitFor()
  assert.equal(await page.evaluate('window.wasNotReloaded'), true)
})
