import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { catalogueTemplate, tryHere } from './support/catalogue.ts'
import { namedImage } from './support/named-image.ts'
import { runApp, takePicture } from './support/run-app.ts'

/** ttyd, for whose image there are no packages: `docker pull` or a build of its source comes before. */
const { image, isHere, onlyHere } = await namedImage('terminal')
const app = isHere ? await runApp({ after }, image, { terminal: catalogueTemplate('terminal') }) : undefined

test('the terminal opens, its socket below the prefix, and runs what is typed', onlyHere, async () => {
  assert.ok(app)
  const { page } = app
  const { prefix, traffic, shell } = await app.open('terminal')
  await page.locator('.xterm-screen').click()
  await page.keyboard.type('echo typed-$((6*7)) | tee /root/out.txt\n')
  await shell('for each in $(seq 50); do grep -q typed-42 /root/out.txt && exit 0; sleep 0.1; done; exit 1')
  await takePicture(page, 'terminal')
  assert.deepEqual(
    traffic.sockets.map(({ path, isOpen }) => [path, isOpen]),
    [[`${prefix}/ws`, true]],
  )
  assert.deepEqual([traffic.outside, traffic.failed], [[], []])
})

test('berth templates try finds nothing that breaks', onlyHere, async () => {
  assert.deepEqual(await tryHere('terminal', image), { works: true, findings: [] })
})
