import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { catalogueTemplate, tryHere } from './support/catalogue.ts'
import { installDebianPackages } from './support/install-debian-packages.ts'
import { runApp, takePicture } from './support/run-app.ts'

const system = ['base-files', 'libc-bin', 'dash', 'coreutils', 'grep']
const desktop = ['tigervnc-standalone-server', 'icewm', 'xterm', 'fonts-dejavu-core', 'novnc', 'websockify']
const image = await appImage('desktop', (folder) => installDebianPackages(folder, [...system, ...desktop], 'trixie'))
const template = catalogueTemplate('desktop')
const app = await runApp({ after }, image, { desktop: template })
const { page } = app
const { prefix, traffic, shell } = await app.open('desktop', String(template.open_path))

test('Open leads to the desktop, which connects at once by a socket below the prefix', async () => {
  await page.locator('#noVNC_container canvas').waitFor()
  await page.waitForFunction(`document.querySelector('canvas').width > 300`)
  assert.deepEqual(
    traffic.sockets.map(({ path, isOpen }) => [path, isOpen]),
    [[`${prefix}/websockify`, true]],
  )
  assert.deepEqual(traffic.outside, [])
})

test('what is typed reaches the window of a program', async () => {
  // The terminal's window, at the place where the image puts it.
  await page.locator('#noVNC_container canvas').click({ position: { x: 300, y: 250 } })
  await page.keyboard.type('echo typed-$((6*7)) > ~/Documents/out.txt\n', { delay: 20 })
  await shell(
    'for each in $(seq 50); do grep -q typed-42 ~/Documents/out.txt && exit 0; sleep 0.1; done; ls -la ~/Documents; exit 1',
  )
  await takePicture(page, 'desktop')
})

test('berth templates try finds nothing that breaks', async () => {
  assert.deepEqual(await tryHere('desktop', image), { works: true, findings: [] })
})
