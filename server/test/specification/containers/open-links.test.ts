import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { assertOk, blockContainer, blockUser, engineState, recordOf } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Berth, type Person } from '#test/support/berth.ts'
import { outside, pollUntil } from '#test/support/control-plane.ts'
import { get, type Answer } from '#test/support/gateway/raw-client.ts'

/** `GET /open/{type}/{path}` as a browser sees it, hop by hop. */

const page = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
const { dev, prod } = JSON.parse(
  await testTemplates({
    command: [
      '/bin/sh',
      '-c',
      'cd /home/berth; mkdir -p a; echo deep > "a/b c.txt"; httpd -p 8080 -h /home/berth; exec tail -f /dev/null',
    ],
  }),
)
const templates = JSON.stringify({
  dev,
  prod: { ...prod, open_path: 'start.html' },
  seminar: { ...prod, groups: ['Seminar'] },
  'odd one': prod,
})
const hostTemplates = JSON.stringify({ dev, prod })
const start = async (env: Record<string, string>) => {
  const berth = await startBerth({ after }, { env: { ...env, MAX_PER_USER: '1' } })
  await berth.administrator()
  return berth
}
const byPath = await start({ CONTAINER_TEMPLATES: templates })
const byHost = await start({ CONTAINER_TEMPLATES: hostTemplates, CONTAINER_ROUTING: 'subdomain' })
/** Each with a person whose container runs. */
const both = [
  { berth: byPath, ann: await byPath.signUp('ann@x.org') },
  { berth: byHost, ann: await byHost.signUp('ann@x.org') },
] as const

const go = (berth: Berth, path: string, person?: Person): Promise<Answer> =>
  get(berth.app.port, path, { headers: { ...page, ...(person && { authorization: `Bearer ${person.token}` }) } })

const locationOf = ({ status, headers, body }: Answer): string => {
  assert.equal(status, 302, body)
  return String(headers.location)
}

const launchPage = (type: string, next: string) => `/launch?${new URLSearchParams({ type, next })}`

/** To the dashboard, or the answer that every malformed target gets. */
async function leadsNowhere(berth: Berth, path: string, person: Person): Promise<void> {
  const answer = await go(berth, path, person)
  if (answer.status !== 400) assert.equal(locationOf(answer), '/?link=unknown', path)
}

suite('one link for a class', () => {
  test('who runs the container is led into it, path and query as they are, in both ways of routing', async () => {
    for (const { berth, ann } of both) {
      const own = `${berth.app.spawnerUrl}/${ann.slug}-dev/`
      assert.equal(locationOf(await go(berth, '/open/dev/a/b%20c.txt?x=1&y=%2F', ann)), `${own}a/b%20c.txt?x=1&y=%2F`)
      assert.equal(locationOf(await go(berth, '/open/dev', ann)), own)
      assert.equal(locationOf(await go(berth, '/open/dev/', ann)), own)
    }
    const [{ berth, ann }] = both
    const { pathname } = new URL(locationOf(await go(berth, '/open/dev/a/b%20c.txt', ann)))
    assert.match((await go(berth, pathname, ann)).body, /deep/)
  })

  test('one that does not run is launched by the page that a browser is led to, and then opened there', async () => {
    const berth = byPath
    const bob = await berth.signUp('bob@x.org')
    const id = String(bob.auth.user.container_id)
    assert.equal(locationOf(await go(berth, '/open/prod/x?y=1', bob)), launchPage('prod', `/${bob.slug}-prod/x?y=1`))
    assert.equal(locationOf(await go(berth, '/open/prod', bob)), launchPage('prod', `/${bob.slug}-prod/start.html`))
    assert.equal(
      locationOf(await go(berth, '/open/odd%20one/x', bob)),
      launchPage('odd one', `/${bob.slug}-odd%20one/x`),
    )
    assertOk(await bob.call('POST', '/api/container/stop/dev'))
    const dev = launchPage('dev', `/${bob.slug}-dev/x`)
    assert.equal(locationOf(await go(berth, '/open/dev/x', bob)), dev)
    assert.equal(await engineState(berth, id), 'exited')
    const admin = await berth.administrator()
    const record = await recordOf(admin, bob.id)
    assertOk(await blockContainer(admin, record.id))
    await pollUntil(
      async () => (await recordOf(admin, bob.id)).is_blocked,
      () => 'it is not blocked',
    )
    // That page says why it is not launched.
    assert.equal(locationOf(await go(berth, '/open/dev/x', bob)), dev)
  })

  test('in both ways of routing: what sleeps, is missing, is blocked or has no room', async () => {
    for (const berth of [byPath, byHost]) {
      const ivy = await berth.signUp('ivy@x.org')
      const admin = await berth.administrator()
      const record = await recordOf(admin, ivy.id)
      const id = String(ivy.auth.user.container_id)
      const own = `${berth.app.spawnerUrl}/${ivy.slug}-dev/x`
      const byLaunch = launchPage('dev', `/${ivy.slug}-dev/x`)
      const launch = (type = 'dev') => ivy.call('POST', `/api/container/launch/${type}`)
      const leadsTo = (location: string) =>
        pollUntil(
          async () => locationOf(await go(berth, '/open/dev/x', ivy)) === location,
          () => `the link does not lead to ${location}`,
        )
      // The container that is led to resumes by itself.
      await outside.pause(id)
      await pollUntil(
        async () => (await ivy.call('GET', '/api/user/containers')).body.containers[0].status === 'paused',
        () => 'it is not paused',
      )
      await leadsTo(own)
      await outside.unpause(id)

      // Each launch is what the page does that is led to; who is refused reads why.
      assert.equal(locationOf(await go(berth, '/open/prod/x', ivy)), launchPage('prod', `/${ivy.slug}-prod/x`))
      const full = await launch('prod')
      assert.deepEqual([full.status, full.body.reason], [500, 'full'])

      await outside.remove(id)
      await leadsTo(byLaunch)
      assertOk(await launch())
      await leadsTo(own)

      await outside.stop(String((await recordOf(admin, ivy.id)).container_id))
      await leadsTo(byLaunch)
      assertOk(await blockContainer(admin, record.id))
      await leadsTo(byLaunch)
      assert.equal((await launch()).status, 403)
      assertOk(await blockUser(admin, ivy.id))
      // A blocked user may look, and is told why on the page that they are led to.
      assert.match(locationOf(await go(berth, '/open/dev/x', ivy)), /^\/(?:launch\?type=dev&|api\/auth\/continue)/)
    }
  })

  test('without a session it leads to the login page, and back', async () => {
    for (const berth of [byPath, byHost]) {
      const link = '/open/dev/a/b%20c.txt?x=1'
      const first = locationOf(await go(berth, link))
      assert.equal(first, `/api/auth/continue?${new URLSearchParams({ next: link })}`)
      const login = new URL(locationOf(await go(berth, first)), berth.url)
      assert.deepEqual([login.pathname, login.searchParams.get('next')], ['/login', link])
    }
  })

  test('a type that is unknown, or for members of another group, leads to the dashboard with a sentence, and says not which', async () => {
    const berth = byPath
    const cat = await berth.signUpWithoutContainer('cat@x.org')
    for (const path of ['/open/nothing/x', '/open/seminar/x', '/open', '/open/', '/open//x', '/open/__proto__/x'])
      assert.equal(locationOf(await go(berth, path, cat)), '/?link=unknown', path)
    const boss = await berth.administrator()
    assert.match(locationOf(await go(berth, '/open/seminar/x', boss)), /^\/launch\?type=seminar&/)
  })

  test('files come of no host unless the operator allows it', async () => {
    const berth = byPath
    const hana = await berth.signUpWithoutContainer('hana@x.org')
    const git = 'https://github.com/x/y'
    assert.equal(locationOf(await go(berth, `/open/dev/x?${new URLSearchParams({ git })}`, hana)), '/?link=host')
    assert.equal((await hana.call('POST', '/api/container/files/dev', { body: { git } })).status, 400)
  })

  test('no spelling leads out of the container, or to another host', async () => {
    const [{ berth, ann }] = both
    const own = `${berth.app.spawnerUrl}/${ann.slug}-dev/`
    const climbing = [
      '..',
      '%2e%2e',
      '.%2E',
      'a/../../x',
      './x',
      '..;x/y',
      'a%2f..%2fb',
      'a%5cb',
      'a\\b',
      'x%00',
      'x%0d%0aset-cookie:y',
      '%zz',
    ]
    for (const rest of climbing) await leadsNowhere(berth, `/open/dev/${rest}`, ann)
    for (const rest of ['/evil.example/x', '//evil.example', 'https://evil.example/', '@evil.example'])
      assert.equal(locationOf(await go(berth, `/open/dev/${rest}`, ann)), own + rest, rest)
    for (const path of ['/open/dev/..', '/open//evil.example', '/open/\\evil.example'])
      assert.match(locationOf(await go(berth, path)), /^\/api\/auth\/continue\?next=/, path)
  })

  test('a link signs no user in, is not kept by caches, and its name can be no slug', async () => {
    const berth = byPath
    const { headers } = await go(berth, '/open/dev/x')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['set-cookie'], undefined)
    assert.match((await berth.signUpWithoutContainer('open@x.org')).slug, /^open[a-z0-9]{4}$/)
    const eve = await berth.signUpWithoutContainer('eve@x.org')
    const made = await eve.call('POST', '/api/user/tokens', {
      body: { name: 'x', scopes: ['containers:write'], expires_in: 100 },
    })
    const byApiToken = await get(berth.app.port, '/open/dev/x', {
      headers: { ...page, authorization: `Bearer ${made.body.token}` },
    })
    assert.match(locationOf(byApiToken), /^\/api\/auth\/continue/)
  })
})
