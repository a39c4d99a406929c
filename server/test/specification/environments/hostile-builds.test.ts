// Part of npm run test:more: builds that run into their limits take their time, and each defence has a quick test of its own.
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, assertRefused } from '#test/support/api-calls.ts'
import { askEngine, buildImage } from '#test/support/engine/engine.ts'
import { startEnvironmentBerth } from '#test/support/environment-berth.ts'
import { startGitServer } from '#test/support/git-server.ts'
import { waitFor } from '#test/support/program.ts'

/** What a build tries against the host, its neighbours, other images and Berth itself, with the real engine. */
const { berth, boss, base, ask, make, build, left } = await startEnvironmentBerth(
  { after },
  { env: { BUILD_TIMEOUT: '15', BUILD_MAX_SIZE: '40m', BUILD_MEMORY: '48m', BUILD_CPUS: '0.5' } },
)
const logOf = async (name: string) => (await ask('GET', `/${name}/versions/1/log`)).text
/** Builds an environment of steps on the base, and gives its version and its log. */
async function run(name: string, ...steps: string[]) {
  await make(name, { dockerfile: [`FROM ${base}`, 'USER 0', ...steps].join('\n') })
  const version = await build(name)
  return { version, log: await logOf(name) }
}

test('a build reaches neither the host, nor its neighbours, nor metadata, nor the engine', async () => {
  assertOk(await boss.call('POST', '/api/container/launch/dev'))
  const listed = await askEngine<
    { NetworkSettings: { Networks: Record<string, { IPAddress: string; Gateway: string }> } }[]
  >('GET', '/containers/json', {
    query: { filters: JSON.stringify({ label: [`berth.instance=${berth.installation}`] }) },
  })
  const [network] = Object.values(listed[0]?.NetworkSettings.Networks ?? {})
  assert.ok(network)
  const listener = createServer((_, response) => response.end('reached')).listen(0, '0.0.0.0')
  after(() => void listener.close())
  await new Promise((resolve) => listener.once('listening', resolve))
  const { port } = listener.address() as AddressInfo
  const targets = [`${network.Gateway}:${port}`, `127.0.0.1:${port}`, `${network.IPAddress}:8080`, '169.254.169.254:80']
  const { version, log } = await run(
    'network',
    ...targets.map(
      (target) => `RUN if /bin/wget -T 2 -O - http://${target}/; then echo LET-THROUGH; else echo kept; fi`,
    ),
    'RUN ls -l /var/run/docker.sock /run/docker.sock || echo no-socket',
    // Steps may send raw packets: a neighbour whose address they know on the link could be impersonated there (ARP).
    'RUN /bin/cat /proc/net/arp; ls -l /sys/class/net',
  )
  assert.equal(version.error, null)
  assert.equal(log.match(/^kept$/gm)?.length, targets.length, log)
  assert.doesNotMatch(log, /^LET-THROUGH$/m)
  assert.match(log, /^no-socket$/m)
  assert.match(log, /^IP address +HW type/m)
  assert.ok(!log.includes(`\n${network.IPAddress} `), `the neighbour is on the link of the build:\n${log}`)
})

test('each build has a network for itself while it runs', async () => {
  const networksOf = async (filter: string) => {
    const query = { filters: JSON.stringify({ label: [filter] }) }
    type Listed = { NetworkSettings: { Networks: Record<string, unknown> } }[]
    const listed = await askEngine<Listed>('GET', '/containers/json', { query })
    return listed.flatMap(({ NetworkSettings }) => Object.keys(NetworkSettings.Networks))
  }
  assertOk(await boss.call('POST', '/api/container/launch/dev'))
  await make('alone', { dockerfile: `FROM ${base}\nUSER 0\nRUN sleep 600` })
  const building = build('alone')
  await waitFor('a step runs', async () => (await networksOf(`berth.build=${berth.installation}`)).length === 1)
  const [ofStep] = await networksOf(`berth.build=${berth.installation}`)
  assert.ok(ofStep)
  assert.ok(!(await networksOf(`berth.instance=${berth.installation}`)).includes(ofStep))
  assertOk(await ask('POST', '/alone/versions/1/cancel'))
  assert.equal((await building).state, 'failed')
  assert.equal((await left()).networks, 0)
})

test('a build has nothing of Berth in its environment, and not the whole memory of the host', async () => {
  const { version, log } = await run(
    'secrets',
    'RUN cat /proc/self/environ | tr "\\\\0" "\\\\n"; cat /proc/1/environ | tr "\\\\0" "\\\\n"',
  )
  assert.equal(version.error, null)
  assert.doesNotMatch(log.replace(/berth\.(build|invalid)\S*/g, ''), /BERTH|SMTP|DATABASE|DATA_DIR|SECRET|TOKEN/)
  const greedy = await run('memory', 'RUN x=a; while true; do x=$x$x$x$x; done')
  assert.match(greedy.version.error ?? '', /more memory than 48 MiB \(BUILD_MEMORY\)/)
})

test('a step has the memory and the cores that the settings say, and no more', async () => {
  const { version, log } = await run(
    'limits',
    'RUN cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null; cat /sys/fs/cgroup/cpu.max 2>/dev/null || cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu/cpu.cfs_period_us',
  )
  assert.equal(version.error, null)
  assert.match(log, new RegExp(`^${48 * 1024 ** 2}$`, 'm'))
  assert.match(log, /^50000[ \n]100000$/m)
})

test('a build that takes too long, forks without end, or writes too much fails with words, and leaves nothing', async () => {
  const before = await left()
  const [late, forks, large] = [
    await run('late', 'RUN sleep 300'),
    await run('forks', 'RUN bomb() { bomb | bomb & }; bomb; sleep 300'),
    await run('large', 'RUN dd if=/dev/zero of=/big bs=1M count=60; sync'),
  ]
  assert.match(late.version.error ?? '', /longer than 15 seconds \(BUILD_TIMEOUT\)/)
  assert.equal(forks.version.state, 'failed')
  assert.match(large.version.error ?? '', /BUILD_MAX_SIZE/)
  assert.deepEqual(await left(), before)
})

test('what a step writes into a VOLUME of its base counts as written', async () => {
  const name = `berth-test-volume-${berth.installation}`
  await buildImage(name, `FROM ${base}\nVOLUME /data\n`)
  after(() =>
    askEngine('DELETE', `/images/${name}`)
      .catch(() => undefined)
      .then(() => undefined),
  )
  await make('volume', {
    dockerfile: `FROM ${name}\nUSER 0\nRUN dd if=/dev/zero of=/data/big bs=1M count=60; sync; sleep 60`,
  })
  assert.match((await build('volume')).error ?? '', /BUILD_MAX_SIZE/)
})

test('output without end is cut, and has no character that a terminal obeys', async () => {
  const { log } = await run(
    'endless',
    'RUN printf "\\\\033]0;title\\\\007\\\\033[2Jclear\\\\n"; yes 0123456789 | head -c 3000000',
  )
  assert.ok(log.length < 1_100_000)
  assert.match(log, /^clear$/m)
  assert.match(log, /The output is longer/)
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(log, /[\x00-\x08\x0b-\x1f\x7f]/)
})

test('a base image that copies from another image when it is built on is refused, by its name', async () => {
  const trap = `berth-test-trap-${berth.installation}`
  await buildImage(trap, `FROM scratch\nCOPY bin /bin\nONBUILD COPY --from=${base} / /stolen\n`)
  after(() =>
    askEngine('DELETE', `/images/${trap}`)
      .catch(() => undefined)
      .then(() => undefined),
  )
  await make('trap', { dockerfile: `FROM ${trap}` })
  assert.match((await build('trap')).error ?? '', new RegExp(`${trap} begins each build with`))
})

test('a repository is built from what it brings, without what it ignores, and links out of it are refused', async () => {
  const repository = await startGitServer({ after })
  const file = (name: string, text: string) => {
    mkdirSync(path.dirname(path.join(repository.folder, name)), { recursive: true })
    writeFileSync(path.join(repository.folder, name), text)
  }
  file('week 1/Dockerfile', `FROM ${base}\nUSER 0\nCOPY . /www\nRUN ls -A /www && cat /www/index.html\n`)
  file('week 1/index.html', 'from git\n')
  file('week 1/ignored.txt', 'x')
  file('week 1/.dockerignore', 'ignored.txt\n')
  file('outside.txt', 'x')
  file('python/requirements.txt', 'requests\n')
  file('dev/.devcontainer/devcontainer.json', `{ // note\n "image": "${base}", "postCreateCommand": "echo created", }`)
  file('features/.devcontainer/devcontainer.json', `{"image": "${base}", "features": {"ghcr.io/x/y:1": {}}}`)
  file('none/readme.md', 'x')
  repository.commit()
  const source = (folder: string, more = {}) => ({ git: repository.url, ref: 'main', path: folder, ...more })
  const check = (folder: string, more = {}) =>
    boss.call('POST', '/api/admin/environment-checks', { body: { source: source(folder, more) } })
  const found = await check('week 1')
  assertOk(found)
  assert.deepEqual([found.body.recognised, found.body.images], [['week 1/Dockerfile'], [base]])
  await make('git', source('week 1'))
  assert.equal((await build('git')).error, null)
  assert.match(
    await logOf('git'),
    /Fetching http[^]*Found week 1\/Dockerfile in commit [0-9a-f]{40}$[^]*^index\.html\nfrom git$/m,
  )
  assert.doesNotMatch(await logOf('git'), /^(ignored|outside)\.txt|^\.(berth|docker)/m)
  assert.match((await check('python')).body.error, /requirements\.txt and no Dockerfile: name a base/)
  const python = await check('python', { base })
  assert.deepEqual([python.body.recognised, python.body.images], [['python/requirements.txt'], [base]])
  assert.match((await check('features')).body.error, /ghcr\.io\/x\/y:1/)
  assert.match((await check('none')).body.error, /there is none of: Dockerfile/)
  assert.match((await check('../..')).body.error, /there is none of/)
  await make('dev', source('dev'))
  assert.equal((await build('dev')).error, null)
  assert.match(await logOf('dev'), /^created$/m)
  symlinkSync('/etc/passwd', path.join(repository.folder, 'week 1/out'))
  repository.commit()
  assert.match((await build('git')).error ?? '', /link that leads out/)
  assertRefused(await ask('POST', '', { name: 'file', source: { git: `file://${repository.folder}` } }), 400)
})

test('a repository with more entries than a build may have is refused before it is built', async () => {
  const repository = await startGitServer({ after })
  for (let at = 0; at <= 10_000; at++) writeFileSync(path.join(repository.folder, `${at}`), '')
  writeFileSync(path.join(repository.folder, 'Dockerfile'), `FROM ${base}\n`)
  repository.commit()
  const check = await boss.call('POST', '/api/admin/environment-checks', {
    body: { source: { git: repository.url, ref: 'main' } },
  })
  assertRefused(check, 400)
  assert.match(check.body.error, /10000|10,000/)
  await make('huge', { git: repository.url, ref: 'main' })
  assert.match((await build('huge')).error ?? '', /10000|10,000/)
})
