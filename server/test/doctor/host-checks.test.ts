import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import {
  checkBuilds,
  checkAddressPools,
  checkClock,
  checkDisk,
  checkEngine,
  checkHostRules,
  checkImages,
  checkInotify,
  clockFindings,
} from '@berth/cli/doctor/check-host.ts'
import { checkHomeSources } from '@berth/cli/doctor/check-homes.ts'
import type { SystemReport } from '@berth/api/schemas/administration/admin.ts'
import { mountBroken, skipBrokenMounts } from '#test/support/broken-mount.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { smallDisk } from '#test/support/engine/small-disk.ts'
import { startPostgres } from '#test/support/store/postgres.ts'
import { contextFor, folderFor, inWords, withReport } from './check-context.ts'

const { signal } = new AbortController()

test('an engine that does not answer is critical, with the command that starts it', async (t) => {
  const [finding] = await checkEngine(contextFor(t, { DOCKER_HOST: 'unix:///nowhere/docker.sock' }))
  assert.equal(finding?.level, 'critical')
  assert.match(finding?.what ?? '', /does not answer \(.*ENOENT/)
  assert.match(finding?.fix ?? '', /systemctl start docker/)
})

test('an engine that owes one answer on a busy machine, and gives the next, is no finding', async (t) => {
  const context = withReport(contextFor(t), { versions: {} })
  let asked = 0
  const report = () =>
    (asked += 1) === 1 ? Promise.reject(new Error('no answer in 3000 ms')) : context.engine.report()
  assert.deepEqual(await checkEngine({ ...context, engine: { ...context.engine, report } }), [])
})

for (const [versions, expected] of [
  [{ runc: '1.2.7' }, /^critical: runc 1\.2\.7 .*escape.*CVE-2025-31133/],
  [{ runc: '1.1.11' }, /^critical: runc 1\.1\.11 .*CVE-2025-31133.*CVE-2024-21626/],
  [{ runc: '1.3.2' }, /^critical: runc 1\.3\.2/],
  [{ runc: '1.1.5+ds1' }, /^warning: runc 1\.1\.5\+ds1 is a distribution's/],
  [{ runc: '1.2.8' }, /^$/],
  [{ runc: '1.3.3' }, /^$/],
  [{ runc: '1.5.0' }, /^$/],
  [{ runc: 'unknown' }, /^$/],
  [{ engine: '27.5.1' }, /^critical: engine 27\.5\.1 .*CVE-2025-54410/],
  [{ engine: '25.0.13' }, /^$/],
  [{ engine: '28.3.3' }, /^$/],
  [{ containerd: '1.7.28' }, /^warning: containerd 1\.7\.28/],
] as const)
  test(`versions ${JSON.stringify(versions)} lead to ${expected}`, async (t) => {
    assert.match(inWords(await checkEngine(withReport(contextFor(t), { versions }))), expected)
  })

test('an engine without seccomp, and one that is asked without TLS over the network, are critical', async (t) => {
  const quiet = { versions: {} }
  assert.deepEqual(await checkEngine(withReport(contextFor(t), quiet)), [])
  const securityOptions = ['name=apparmor', 'name=seccomp,profile=unconfined']
  assert.match(
    inWords(await checkEngine(withReport(contextFor(t), { ...quiet, securityOptions }))),
    /^critical.*seccomp/,
  )
  const address = 'tcp://10.0.0.7:2375'
  assert.match(inWords(await checkEngine(withReport(contextFor(t), { ...quiet, address }))), /^critical.*without TLS/)
})

test('rules of the host: what the running service says, what this process sees, and a warning when they are off', async (t) => {
  const service = (rules: string) => ({ host: { rules } }) as SystemReport
  assert.deepEqual(await checkHostRules(contextFor(t, {}, { service: service('set') })), [])
  const missing = await checkHostRules(contextFor(t, {}, { service: service('not set: Berth is not root') }))
  assert.match(inWords(missing), /^critical: .*\(Berth is not root\).*cloud metadata/)
  const seen = contextFor(t)
  const withoutRules = async () => ({ areSet: false, reason: 'they are missing' }) as const
  const engine = { ...seen.engine, hostRules: withoutRules }
  assert.match(inWords(await checkHostRules({ ...seen, engine })), /^critical: .*they are missing/)
  const off = contextFor(t, { HOST_RULES: 'off' }, { service: service('set'), engine })
  assert.match(inWords(await checkHostRules(off)), /^warning: HOST_RULES=off/)
  const closed = { ...engine, hostRules: async () => Promise.reject(new Error('Berth is not root')) }
  const early = { ...seen, engine: closed, service: service('not known') }
  await assert.rejects(checkHostRules(early), /has not looked at them yet: try again/)
  const byOperator = { ...engine, hostRules: async () => ({ areSet: true }) as const }
  assert.deepEqual(await checkHostRules({ ...off, engine: byOperator }), [], 'the operator has set them')
})

test('address pools that are nearly used up are a warning, used up ones critical', async (t) => {
  assert.deepEqual(await checkAddressPools(withReport(contextFor(t), { freeNetworks: 3 })), [])
  assert.match(inWords(await checkAddressPools(withReport(contextFor(t), { freeNetworks: 2 }))), /^warning: .* 2 more/)
  assert.match(inWords(await checkAddressPools(withReport(contextFor(t), { freeNetworks: 0 }))), /^critical/)
})

test('a template image that is here is well; one that is nowhere is critical; a demo image names npm start', async (t) => {
  const templates = (image: string) => ({ CONTAINER_TEMPLATES: JSON.stringify({ dev: { image } }) })
  assert.deepEqual(await checkImages(contextFor(t, templates(await testImage())), signal), [])
  const away = await checkImages(contextFor(t, templates('127.0.0.1:1/nothing:1')), signal)
  assert.match(inWords(away), /^critical: The image 127\.0\.0\.1:1\/nothing:1 \(dev; its registry does not answer\)/)
  const demo = await checkImages(contextFor(t, templates('berth-demo-none:latest')), signal)
  assert.match(demo[0]?.fix ?? '', /^npm start/)
})

test('the image of an environment is not looked for by a name, and builds have their room and bounded bases', async (t) => {
  const CONTAINER_TEMPLATES = JSON.stringify({ dev: { image: await testImage() }, course: { environment: 'course' } })
  const builds = { CONTAINER_TEMPLATES, ENVIRONMENTS: 'managers' }
  assert.deepEqual(await checkImages(contextFor(t, builds), signal), [])
  const here = { address: 'unix:///run/docker.sock', rootDir: folderFor(t) }
  const checked = async (more: Record<string, string>) =>
    inWords(await checkBuilds(withReport(contextFor(t, { ...builds, ...more }), here)))
  assert.equal(await checked({ BUILD_MAX_SIZE: '1m' }), '')
  assert.match(await checked({ BUILD_MAX_SIZE: '900000g' }), /^warning: .* GiB left, and a build may take 900000\.0/)
  assert.match(await checked({ BUILD_MAX_SIZE: '1m', BUILD_BASES: '*' }), /^warning: BUILD_BASES has \*/)
  assert.equal(await checked({ ENVIRONMENTS: 'off', BUILD_BASES: '*', CONTAINER_TEMPLATES: '' }), '')
})

test('a low limit of inotify is a warning with the line of sysctl; a high one is well', async (t) => {
  const proc = folderFor(t)
  const folder = path.join(proc, 'sys/fs/inotify')
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'max_user_instances'), '128\n')
  writeFileSync(path.join(folder, 'max_user_watches'), '524288\n')
  const [finding] = await checkInotify(contextFor(t, {}, { proc }))
  assert.match(finding?.what ?? '', /max_user_instances is 128, for/)
  assert.match(finding?.fix ?? '', /max_user_instances=8192\\n' > \/etc\/sysctl\.d\//)
  writeFileSync(path.join(folder, 'max_user_instances'), '8192\n')
  assert.deepEqual(await checkInotify(contextFor(t, {}, { proc })), [])
})

test('a small disk is critical, with the folder that is on it', async (t) => {
  const disk = await smallDisk('16m')
  if (disk === undefined) return t.skip('no file system can be mounted here')
  t.after(() => disk.remove())
  const findings = await checkDisk(contextFor(t, { DATA_DIR: disk.folder }))
  assert.match(inWords(findings), new RegExp(`^critical: Only 0\\.0 GiB .* disk of ${disk.folder}`))
})

test('a clock that is apart from the engine by a minute is a warning that says which is behind', async (t) => {
  const now = new Date()
  const right = await checkClock(withReport(contextFor(t, {}, { now }), { time: now }), signal)
  assert.doesNotMatch(inWords(right), /the engine/)
  const time = new Date(now.getTime() + 60_000)
  const late = await checkClock(withReport(contextFor(t, {}, { now }), { time }), signal)
  assert.match(inWords(late), /^warning: The clock is (59|60) s behind that of the engine/)
})

// Found on a stock Debian 13 behind a firewall, which was told to install the service that ran.
test('a clock that no service keeps is told apart from one that the running service could not set', () => {
  const report = (ntp: string, synchronized: string) =>
    `Timezone=Etc/UTC\nNTP=${ntp}\nNTPSynchronized=${synchronized}\n`
  assert.deepEqual(clockFindings(report('yes', 'yes')), [])
  // Another program than those that systemd knows keeps it.
  assert.deepEqual(clockFindings(report('no', 'yes')), [])
  assert.match(inWords(clockFindings(report('yes', 'no'))), /^warning: A time service runs, but has not set the clock/)
  assert.match(inWords(clockFindings(report('no', 'no'))), /^warning: No time service keeps the clock/)
  assert.deepEqual(clockFindings(''), [], 'a machine without systemd')
})

test('a clock that is apart from the database by a minute is a warning; a database that does not answer is none', async (t) => {
  const { url, stop } = await startPostgres()
  t.after(stop)
  const ahead = contextFor(t, { DATABASE_URL: url }, { now: new Date(Date.now() + 60_000) })
  assert.match(
    inWords(await checkClock(ahead, signal)),
    /^warning: The clock is (59|60) s ahead of that of the database/m,
  )
  const right = contextFor(t, { DATABASE_URL: url })
  assert.doesNotMatch(inWords(await checkClock(right, signal)), /the database/)
  const away = contextFor(t, { DATABASE_URL: 'postgres://berth@127.0.0.1:1/berth' })
  assert.doesNotMatch(inWords(await checkClock(away, signal)), /the database/)
})

test('folders of home_source: without any nothing, and what is wrong with those that there are', async (t) => {
  const root = folderFor(t)
  const homes = path.join(root, 'homes')
  mkdirSync(homes)
  const settings = (create: boolean) => ({
    ALLOWED_MOUNT_ROOTS: root,
    CONTAINER_TEMPLATES: JSON.stringify({
      lab: { image: 'x', home_source: { path: `${homes}/{slug}`, ...(create && { create: '1:1' }) } },
    }),
  })
  assert.deepEqual(await checkHomeSources(contextFor(t)), [])
  const context = contextFor(t, settings(false))
  assert.match(
    inWords(await checkHomeSources(context)),
    /^hint: home_source of lab: .* is on the file system of DATA_DIR/,
  )
  chmodSync(homes, 0o777)
  assert.match(inWords(await checkHomeSources(context)), /^warning: home_source of lab: every account .* rename homes/m)
  chmodSync(homes, 0o1777)
  assert.doesNotMatch(inWords(await checkHomeSources(context)), /every account/)
  const creating = inWords(await checkHomeSources(contextFor(t, settings(true))))
  assert.equal(/this account is not root/.test(creating), process.getuid?.() !== 0)
  rmSync(homes, { recursive: true })
  assert.match(inWords(await checkHomeSources(context)), /^critical: home_source of lab: .* cannot be used \(ENOENT\)/)
})

test('a stale handle of home_source is told apart from a missing folder', { skip: skipBrokenMounts }, async (t) => {
  const root = folderFor(t)
  const homes = path.join(root, 'homes')
  mkdirSync(homes)
  const unmount = await mountBroken(homes, 'stale')
  try {
    const templates = { lab: { image: 'x', home_source: { path: `${homes}/{slug}` } } }
    const context = contextFor(t, { ALLOWED_MOUNT_ROOTS: root, CONTAINER_TEMPLATES: JSON.stringify(templates) })
    const [found] = await checkHomeSources(context)
    assert.match(found?.what ?? '', /^home_source of lab: .* cannot be used \(ESTALE\)/)
    assert.match(found?.fix ?? '', /mount it again/)
  } finally {
    await unmount()
  }
})
