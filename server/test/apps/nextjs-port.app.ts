import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appImage } from './support/app-image.ts'
import { installPackages } from './support/install-npm-packages.ts'
import { portOnceListed, runApp } from './support/run-app.ts'
import { watchTraffic } from './support/traffic.ts'

/**
 * Next.js on a further port, with subdomain routing and without a setting. With path routing its page does not run: it takes
 * `ann-nextjs:3000`, which is in the path of its own scripts, for an address with a scheme.
 */
const project = `cd /home/node/project
mkdir -p app/other
cat > app/layout.js <<'END'
export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>
}
END
cat > app/page.js <<'END'
import Link from 'next/link'
import { Counter } from './counter'
export default function Page() { return <><h1>First words</h1><Counter /><Link href="/other">Other</Link></> }
END
cat > app/counter.js <<'END'
'use client'
import { useState } from 'react'
export function Counter() {
  const [count, setCount] = useState(0)
  return <button onClick={() => setCount(count + 1)}>Pressed {count}</button>
}
END
echo 'export default function Page() { return <h1>Other words</h1> }' > app/other/page.js
`
const main = `exec node --eval "require('node:http').createServer((_, answer) => answer.end('main')).listen(8080)"`
const plain = `${project}
node_modules/.bin/next dev --hostname 127.0.0.1 --port 3000 &
${main}
`
// Its packages for other machines are named by the lock file, and not all of them are there.
const image = await appImage('nextjs', (folder) => installPackages(folder, 'install'))
const template = (start: string) => ({
  port: 8080,
  memory: '1g',
  home: null,
  env: { HOME: '/home/node', NEXT_TELEMETRY_DISABLED: '1' },
  command: ['sh', '-c', start],
})

test('with subdomain routing a further port shows Next.js, which listens on loopback alone, with hot reload', async (t) => {
  const lifetime = { after: (work: () => Promise<void>) => t.after(work) }
  const app = await runApp(lifetime, image, { nextjs: template(plain) }, { env: { CONTAINER_ROUTING: 'subdomain' } })
  const { page, context, ann } = app
  const { shell } = await app.open('nextjs')
  const { url, is_loopback } = await portOnceListed(ann, 'nextjs', 3000)
  assert.equal(is_loopback, true)
  const traffic = watchTraffic(context, url)
  const heading = (text: string) => page.getByRole('heading', { name: text }).waitFor()
  // Its first answer waits for its compiler.
  await page.goto(url, { timeout: 90_000 })
  await heading('First words')
  // A press before the page's own program runs counts for nothing.
  const pressed = page.getByRole('button', { name: /Pressed [1-9]/ })
  for (const end = Date.now() + 60_000; (await pressed.count()) === 0; await page.waitForTimeout(500)) {
    assert.ok(Date.now() < end, 'the program of the page does not run')
    await page.getByRole('button', { name: 'Pressed' }).click()
  }
  const words = await pressed.textContent()
  await page.evaluate('window.wasNotReloaded = true')
  await shell(`sed -i 's/First words/Second words/' /home/node/project/app/page.js`)
  await heading('Second words')
  assert.equal(await pressed.textContent(), words)
  await page.getByRole('link', { name: 'Other' }).click()
  await heading('Other words')
  assert.equal(await page.evaluate('window.wasNotReloaded'), true)
  assert.ok(traffic.sockets.some(({ isOpen }) => isOpen))
  assert.deepEqual(traffic.outside, [])
})
