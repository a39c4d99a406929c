import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { installDebianPackages } from './support/install-debian-packages.ts'
import { runApp } from './support/run-app.ts'
import { watchTraffic } from './support/traffic.ts'

/** Python's own file server on further ports: as it is started without a thought of a prefix, and on loopback. */
const start = `mkdir -p /tmp/site/notes && cd /tmp/site
echo '<h1>Of a folder</h1><a href="../">back</a>' > notes/index.html
echo 'of a file' > file.txt
python3 -m http.server 8000 &
python3 -m http.server --bind 127.0.0.1 8001 &
exec node --eval "require('node:http').createServer((_, answer) => answer.end('main')).listen(8080)"
`
// The image of Jupyter has Debian's Python.
const image = await appImage('jupyter', (folder) => installDebianPackages(folder, ['jupyter-notebook']))
const app = await runApp({ after }, image, {
  python: { port: 8080, memory: '256m', home: null, command: ['sh', '-c', start] },
})
const { page, context } = app
const main = await app.open('python')

for (const port of [8000, 8001])
  test(`python3 -m http.server lists, opens folders and files at port ${port}, all below its prefix`, async () => {
    const address = `${main.home.slice(0, -1)}:${port}/`
    const traffic = watchTraffic(context, address)
    await page.goto(address)
    await page.getByRole('link', { name: 'notes/' }).click()
    await page.getByRole('heading', { name: 'Of a folder' }).waitFor()
    assert.equal(page.url(), `${address}notes/`)
    await page.getByRole('link', { name: 'back' }).click()
    await page.getByRole('link', { name: 'file.txt' }).click()
    await page.getByText('of a file').waitFor()
    // A folder without its slash is led to the one with it, by an address that the server writes itself.
    await page.goto(`${address}notes`)
    assert.equal(page.url(), `${address}notes/`)
    assert.deepEqual(traffic.outside, [])
    assert.deepEqual(
      traffic.failed.filter((each) => !each.includes('favicon')),
      [],
    )
  })

test('the list of ports names both, and which of them listens on loopback alone', async () => {
  const { ports } = (await app.ann.call('GET', '/api/container/ports/python')).body as {
    ports: { port: number; is_loopback: boolean }[]
  }
  const found = ports.filter(({ port }) => port !== 8080).map(({ port, is_loopback: isLoopback }) => [port, isLoopback])
  assert.deepEqual(found, [
    [8000, false],
    [8001, true],
  ])
})
