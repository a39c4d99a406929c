import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, suite, test } from 'node:test'
import { assertOk } from '../support/api-calls.ts'
import { startBerth, type Person } from '../support/berth.ts'
import { onCluster } from '../support/cluster/berth-on-cluster.ts'
import { clusterImage } from '../support/cluster/cluster-api.ts'
import { pollUntil } from '../support/control-plane.ts'
import { eventually } from '../support/engine/runtimes.ts'
import { get } from '../support/gateway/raw-client.ts'
import { startGitServer } from '../support/git-server.ts'
import { observationTime } from '../support/observation-time.ts'

/**
 * Part of `npm run test:cluster`: idle by what the application says, and one link for a class. A container that is
 * suspended is a pod that is gone.
 */

const endings: (() => unknown)[] = []
const lifetime = { after: (ending: () => unknown) => void endings.unshift(ending) }
const repository = await startGitServer(lifetime)
const inRepository = (name: string, text: string) => {
  writeFileSync(path.join(repository.folder, name), text)
  repository.commit()
}
inRepository('task.txt', 'first\n')

/** `GET cgi-bin/say?2`: from then on the application says that two jobs run. */
const say = [
  '#!/bin/sh',
  `printf '{"jobs":%s}' "$QUERY_STRING" > ../state`,
  String.raw`printf 'Content-Type: text/plain\r\nContent-Length: 0\r\n\r\n'`,
]
const serve = [
  'cd /data; mkdir -p cgi-bin lesson; echo of the course > "lesson/week 1.txt"',
  'printf %s "$SAY" > cgi-bin/say; chmod 755 cgi-bin/say; exec httpd -f -p 8080',
].join(';')
const template = {
  description: '',
  image: await clusterImage(),
  port: 8080,
  memory: '64m',
  home: '/data',
  env: { SAY: say.join('\n') },
  command: ['/bin/sh', '-c', serve],
}
const probed = { ...template, idle_probe: { path: 'state', active: '/jobs' } }
const berth = await startBerth(lifetime, {
  ...(await onCluster(lifetime, null, template.image)),
  env: {
    CONTAINER_TEMPLATES: JSON.stringify({
      dev: { ...template, display_name: 'Development' },
      lab: { ...template, display_name: 'Lab' },
      jobs: { ...probed, display_name: 'Jobs', idle_timeout: 6 },
      limited: { ...probed, display_name: 'Limited', idle_timeout: 600, max_lifetime: 25 },
    }),
    OPEN_GIT_HOSTS: repository.host,
  },
  // A page that was opened counts for a moment, in place of five minutes.
  pace: { navigation: 1_000 },
})
await berth.administrator()

const toPage = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const ofPage = { headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' } }
/** What a person opens; `/open/...` without a token is a browser without a session. */
const open = (target: string, person?: Person) =>
  get(berth.app.port, target, { headers: { ...toPage, ...(person && { authorization: `Bearer ${person.token}` }) } })
const tells = async (person: Person, type: string, jobs: number) =>
  eventually(async () => {
    const said = `/${person.slug}-${type}/cgi-bin/say?${jobs}`
    assert.equal((await person.call('GET', said, ofPage)).status, 200)
  }, 60_000)
const isRunning = async ({ slug }: Person, type: string) =>
  (await berth.runtime.inspect(`${berth.installation}-${slug}-${type}`))?.state === 'running'
const untilGone = (person: Person, type: string) =>
  eventually(async () => assert.equal(await isRunning(person, type), false), 60_000)

suite('use of containers on a cluster', { concurrency: 3 }, () => {
  after(async () => {
    for (const ending of endings) await ending()
  })

  test('a pod that says it works runs without a page; idle, it goes although a page is open, and comes back when one is opened', async () => {
    const ann = await berth.signUpWithoutContainer('ann@x.org')
    assertOk(await ann.call('POST', '/api/container/launch/jobs'))
    await tells(ann, 'jobs', 2)
    await observationTime(15_000)
    assert.equal(await isRunning(ann, 'jobs'), true)
    const { containers } = (await ann.call('GET', '/api/user/containers')).body
    assert.equal(containers.find((each: { type: string }) => each.type === 'jobs').idle.why, 'app')
    await tells(ann, 'jobs', 0)
    const statuses: number[] = []
    const tab = setInterval(() => {
      void ann.call('GET', `/${ann.slug}-jobs/state`, ofPage).then(
        ({ status }) => statuses.push(status),
        () => undefined,
      )
    }, 200)
    try {
      await untilGone(ann, 'jobs')
      statuses.length = 0
      await observationTime(3_000)
      assert.deepEqual([...new Set(statuses)], [503])
      assert.equal(await isRunning(ann, 'jobs'), false)
    } finally {
      clearInterval(tab)
    }
    await pollUntil(
      async () => (await open(`/${ann.slug}-jobs/state`, ann)).status === 200,
      () => 'the page is not opened',
    )
  })

  test('no application keeps its pod beyond max_lifetime', async () => {
    const bob = await berth.signUpWithoutContainer('bob@x.org')
    assertOk(await bob.call('POST', '/api/container/launch/limited'))
    await tells(bob, 'limited', 5)
    await untilGone(bob, 'limited')
  })

  test('one link leads into a pod that runs, and by the page of the launch to one that does not', async () => {
    const cat = await berth.signUpWithoutContainer('cat@x.org')
    const own = `/${cat.slug}-lab/lesson/week%201.txt`
    const link = '/open/lab/lesson/week%201.txt'
    const leadsTo = async (target: string, person?: Person) => {
      const { status, headers, body } = await open(target, person)
      assert.equal(status, 302, body)
      return new URL(String(headers.location), berth.url)
    }
    const login = await leadsTo(link)
    assert.equal(login.searchParams.get('next'), link)
    const launch = await leadsTo(link, cat)
    assert.equal(launch.pathname, '/launch')
    const { type, next } = Object.fromEntries(launch.searchParams)
    assert.deepEqual([type, next], ['lab', own])
    assertOk(await cat.call('POST', `/api/container/launch/${type}`))
    await eventually(async () => {
      const page = await open(own, cat)
      assert.deepEqual([page.status, page.body], [200, 'of the course\n'])
    }, 60_000)
    // Nothing on a cluster can be paused: a pod beside it brings the files.
    const bring = async () =>
      assertOk(await cat.call('POST', '/api/container/files/lab', { body: { git: repository.url, to: 'course' } }))
    const said = async (name: string) => (await open(`/${cat.slug}-lab/course/${name}`, cat)).body
    await bring()
    assert.equal(await said('task.txt'), 'first\n')
    inRepository('task.txt', 'second\n')
    inRepository('other.txt', 'other\n')
    await bring()
    assert.deepEqual([await said('task.txt'), await said('other.txt')], ['second\n', 'other\n'])
    assert.equal(await isRunning(cat, 'lab'), true)
    assert.equal((await leadsTo(link, cat)).pathname, own)
    assertOk(await cat.call('POST', '/api/container/stop/lab'))
    await untilGone(cat, 'lab')
    const again = await leadsTo(link, cat)
    assert.deepEqual([again.pathname, again.searchParams.get('next')], ['/launch', own])
    assert.equal(await isRunning(cat, 'lab'), false)
    assert.equal((await leadsTo('/open/unknown/x', cat)).search, '?link=unknown')
  })
})
