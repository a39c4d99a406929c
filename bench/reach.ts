import { Session } from 'node:inspector/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { startBerth } from '../server/test/support/berth.ts'
import { askEngine } from '../server/test/support/engine/engine.ts'
import { registerAt, startBerthWith } from '../server/test/support/oidc/berth-with-providers.ts'
import { startProvider } from '../server/test/support/oidc/provider.ts'
import { atProvider, begin, finish, newBrowser } from '../server/test/support/oidc/sign-in.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * `npm run structure:reach`: how many of our files six behaviours execute, from the request to its answer, gateway and API
 * process together. A file counts when a function of it ran, so not what is only loaded. Work that begins by itself meanwhile
 * counts, too, so that a figure may be some files too high. With `--files` each is named.
 */
const root = pathToFileURL(path.resolve(import.meta.dirname, '..')).href
const isNaming = process.argv.includes('--files')
const inspector = new Session()
inspector.connect()
await inspector.post('Profiler.enable')
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Files of which a function has run since the last call. */
async function filesSince(): Promise<string[]> {
  const { result } = await inspector.post('Profiler.takePreciseCoverage')
  return result.flatMap(({ url, functions }) => {
    const file = url.startsWith(root) ? url.slice(root.length + 1) : ''
    const hasRun = functions.some(({ ranges: [range] }) => range && range.startOffset > 0 && range.count > 0)
    return hasRun && /^(api|texts|gateway|server)\/src\//.test(file) ? [file] : []
  })
}

async function count(behaviour: string, run: () => Promise<{ readonly status: number; readonly text: string }>) {
  await filesSince()
  const { status, text } = await run()
  const files = await filesSince()
  if (status >= 400) throw new Error(`${behaviour}: ${status} ${text}`)
  console.log(`${behaviour.padEnd(16)} ${files.length} files`)
  if (isNaming) for (const file of files.sort()) console.log(`  ${file}`)
}

await using lifetime = new BenchLifetime()
const provider = await startProvider(lifetime)
await provider.personIs('ann', { email: 'ann@x.org', email_verified: true })
const berth = await startBerth(lifetime)
const boss = await berth.administrator()
const person = await berth.signUpWithoutContainer('reach@x.org')
let containerId = ''
await count('cold launch', async () => {
  const launched = await person.call('POST', '/api/container/launch/prod')
  containerId = String(launched.body.container_id)
  return launched
})
const address = `/${person.slug}-prod/`
await person.call('GET', address)
await count('proxied GET', () => person.call('GET', address))
await askEngine('POST', `/containers/${containerId}/pause`)
await new Promise((resolve) => setTimeout(resolve, 1_000))
await count('wake', () => person.call('GET', address))
const { group } = (await boss.call('POST', '/api/admin/groups', { body: { name: 'Reach' } })).body
const lesson = { days: [1], at: '08:00', container_type: 'dev' }
const timetable = { time_zone: 'Europe/Vienna', lessons: [lesson], stop_at: null, exceptions: [] }
await count('timetable', () => boss.call('POST', `/api/groups/${group.id}/timetable`, { body: { timetable } }))
await count('block', () => boss.call('POST', `/api/admin/users/${person.id}/block`))
const other = await startBerthWith(lifetime, { main: await registerAt(provider) })
const browser = newBrowser(other)
const answer = await atProvider(await begin(browser))
await count('OIDC callback', () => finish(browser, answer))
inspector.disconnect()
