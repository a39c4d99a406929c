import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, suite, test } from 'node:test'
import { assertOk, assertRefused, engineState } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Person } from '#test/support/berth.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { get } from '#test/support/gateway/raw-client.ts'

/** A server of Git repositories (git-http-backend, smart HTTP), which notes who asks. */
const folder = mkdtempSync(path.join(tmpdir(), 'berth-links-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const git = (...args: string[]) =>
  execFileSync('git', ['-C', path.join(folder, 'course'), ...args], {
    env: {
      ...process.env,
      GIT_AUTHOR_NAME: 'x',
      GIT_AUTHOR_EMAIL: 'x@x.org',
      GIT_COMMITTER_NAME: 'x',
      GIT_COMMITTER_EMAIL: 'x@x.org',
    },
  })
const publish = (files: Record<string, string>) => {
  for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, 'course', name), content)
  git('add', '-A')
  git('commit', '--quiet', '--message=x')
}
execFileSync('git', ['init', '--quiet', '--initial-branch=main', path.join(folder, 'course')])
publish({ 'one.txt': 'first\n', 'two.txt': 'second\n' })
git('branch', 'old')
const asked: string[] = []
const repositories = createServer((request, response) => {
  asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`)
  if (request.url?.startsWith('/moved'))
    response.writeHead(302, { location: request.url.replace('/moved', '/course') }).end()
  else serveGit(request, response)
})
await new Promise<void>((resolve) => repositories.listen(0, '127.0.0.1', resolve))
after(() => void repositories.close())
const host = `127.0.0.1:${(repositories.address() as AddressInfo).port}`
const course = `http://${host}/course/.git`

function serveGit(request: IncomingMessage, response: ServerResponse): void {
  const [pathInfo = '', query = ''] = (request.url ?? '').split('?')
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathInfo,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      ...(request.headers['content-encoding'] && { HTTP_CONTENT_ENCODING: request.headers['content-encoding'] }),
    },
  })
  request.pipe(backend.stdin)
  const parts: Buffer[] = []
  backend.stdout.on('data', (bytes: Buffer) => parts.push(bytes))
  backend.on('close', () => {
    const whole = Buffer.concat(parts)
    const end = whole.indexOf('\r\n\r\n')
    const headers = Object.fromEntries(
      whole
        .toString('latin1', 0, end)
        .split('\r\n')
        .map((line) => line.split(': ') as [string, string]),
    )
    response.writeHead(Number.parseInt(headers.Status ?? '200', 10), headers).end(whole.subarray(end + 4))
  })
}

const { dev } = JSON.parse(await testTemplates({ access: 'owner' })) as { dev: Record<string, unknown> }
const env = {
  CONTAINER_TEMPLATES: JSON.stringify({ dev, bare: { ...dev, home: null }, shares: { ...dev, home_of: 'user' } }),
  OPEN_GIT_HOSTS: `Git.Example.org,${host}`,
}
const berth = await startBerth({ after }, { env })
await berth.administrator()
/** Whose container runs, for tests that put nothing into its home. */
const ann = await berth.signUp('ann@x.org')

const put = (person: Person, body: Record<string, unknown>, type = 'dev') =>
  person.call('POST', `/api/container/files/${type}`, { body })
const idOf = (person: Person) => String(person.auth.user.container_id)
const read = (person: Person, file: string) => execInContainer(idOf(person), `cat /home/berth/${file}`)
const follow = async (person: Person, query: Record<string, string>) => {
  const headers = { accept: 'text/html', authorization: `Bearer ${person.token}` }
  const { status, headers: answer } = await get(berth.app.port, `/open/dev/x?${new URLSearchParams(query)}`, {
    headers,
  })
  assert.equal(status, 302)
  return String(answer.location)
}

suite('links with files of a Git repository', () => {
  test('a link leads to the page that asks, with what it names; nothing is fetched by that', async () => {
    const location = new URL(await follow(ann, { git: course, ref: 'old', to: 'week1', a: '1' }), berth.url)
    assert.equal(location.pathname, '/launch')
    assert.deepEqual(Object.fromEntries(location.searchParams), {
      type: 'dev',
      next: `/${ann.slug}-dev/x?a=1`,
      git: course,
      ref: 'old',
      to: 'week1',
    })
    assert.deepEqual(asked, [])
  })

  test('the files are put into the home of a container that runs, and what its owner changed is kept', async () => {
    const bob = await berth.signUp('bob@x.org')
    assertOk(await put(bob, { git: course, to: 'course' }))
    assert.equal(await read(bob, 'course/one.txt'), 'first\n')
    await execInContainer(idOf(bob), 'echo mine > /home/berth/course/one.txt; rm /home/berth/course/two.txt')
    publish({ 'one.txt': 'newer\n', 'two.txt': 'newer\n' })
    assertOk(await put(bob, { git: course, to: 'course' }))
    assert.equal(await read(bob, 'course/one.txt'), 'newer\n')
    assert.equal(await read(bob, 'course/one.txt.1'), 'mine\n')
    assert.equal(await read(bob, 'course/two.txt'), 'newer\n')
    assert.equal(await engineState(berth, idOf(bob)), 'running')
    assertOk(await put(bob, { git: course, ref: 'old', to: 'before' }))
    assert.equal(await read(bob, 'before/one.txt'), 'first\n')
    assertOk(await put(bob, { git: course }))
    assert.equal(await read(bob, 'one.txt'), 'newer\n')
    // The account that Berth runs as may have accounts at Git servers.
    assert.deepEqual(
      asked.filter((each) => !each.endsWith(' ')),
      [],
    )
  })

  test('the files are put into a home that types share', async () => {
    const ida = await berth.signUpWithoutContainer('ida@x.org')
    const launched = await ida.call('POST', '/api/container/launch/shares')
    assertOk(launched)
    assertOk(await put(ida, { git: course, ref: 'old', to: 'course' }, 'shares'))
    const id = String(launched.body.container_id)
    assert.equal(await execInContainer(id, 'cat /home/berth/course/one.txt'), 'first\n')
  })

  test('what programs of a home execute unasked is not put there', async () => {
    const jon = await berth.signUp('jon@x.org')
    mkdirSync(path.join(folder, 'course', '.config'), { recursive: true })
    mkdirSync(path.join(folder, 'course', 'bin'), { recursive: true })
    const hidden = { '.bashrc': 'evil\n', '.config/start': 'evil\n' }
    publish({ ...hidden, 'bin/ls': 'evil\n', 'jupyter_server_config.py': 'evil\n', 'three.txt': 'third\n' })
    await execInContainer(idOf(jon), 'echo mine > /home/berth/.bashrc')
    assertOk(await put(jon, { git: course }))
    assert.equal(await read(jon, 'three.txt'), 'third\n')
    assert.equal(await read(jon, '.bashrc'), 'mine\n')
    assert.equal(
      await execInContainer(
        idOf(jon),
        'cd /home/berth; for each in .config .bashrc.1 bin jupyter_server_config.py; do [ ! -e $each ] || echo $each; done',
      ),
      '',
    )
    for (const to of ['.config', 'bin']) assertRefused(await put(jon, { git: course, to }), 400)
    // A folder of its own is no place where programs look.
    assertOk(await put(jon, { git: course, to: 'week2' }))
    assert.equal(await read(jon, 'week2/.bashrc'), 'evil\n')
  })

  test('no link leads through a link in the home to elsewhere in the container', async () => {
    await execInContainer(idOf(ann), 'mkdir /tmp/else && ln -s /tmp/else /home/berth/course')
    await put(ann, { git: course, to: 'course' })
    assert.equal(await execInContainer(idOf(ann), 'ls /tmp/else'), '')
  })

  test('hosts that are not allowed, addresses that are none, and options of Git are refused, and nothing is asked', async () => {
    const before = asked.length
    const hosts = [
      'https://github.com/x/y',
      `http://localhost:${host.split(':')[1]}/course/.git`,
      'http://127.0.0.1/course',
      'https://git.example.org.evil.example/x',
      'https://git.example.org:444/x',
    ]
    const links = [
      'file:///etc',
      '/etc',
      'ext::sh -c id',
      '--upload-pack=id',
      'ssh://git.example.org/x',
      `http://user@${host}/course`,
      `http://user:secret@${host}/course`,
      `${course}?token=x`,
      `${course}#x`,
      `http://${host}`,
      `http://${host}/a/../course`,
      `http://${host}\\course`,
      'https://GIT.example.org/x',
      'x'.repeat(501),
    ]
    for (const url of hosts) {
      assertRefused(await put(ann, { git: url }), 400)
      assert.equal(await follow(ann, { git: url }), '/?link=host', url)
    }
    for (const url of links) {
      assertRefused(await put(ann, { git: url }), 400)
      assert.equal(await follow(ann, { git: url }), '/?link=link', url)
    }
    for (const wrong of [
      { ref: '--upload-pack=id' },
      { ref: 'a..b' },
      { ref: 'a b' },
      { to: '..' },
      { to: '/etc' },
      { to: 'a/../../b' },
    ]) {
      assertRefused(await put(ann, { git: course, ...wrong }), 400)
      assert.equal(await follow(ann, { git: course, ...wrong }), '/?link=link', JSON.stringify(wrong))
    }
    assert.equal(asked.length, before)
  })

  test('a redirect is not followed; what cannot be fetched is told in words, and no log has the address', async () => {
    assertRefused(await put(ann, { git: `http://${host}/moved/.git` }), 500)
    assertRefused(await put(ann, { git: `http://${host}/missing-secret-name` }), 500)
    assert.ok(!asked.some((each) => each.includes('/course/') && each.includes('moved')))
    assert.ok(!berth.logs.some((line) => line.includes('missing-secret-name')))
  })

  test('a page of another origin cannot ask with the cookie; an API token cannot ask at all', async () => {
    const body = { git: course, to: 'stolen' }
    const headers = { cookie: `spawner_token=${ann.token}`, 'sec-fetch-site': 'same-origin', origin: berth.url }
    const forged = await berth.call('POST', '/api/container/files/dev', { body, headers })
    assert.equal(forged.status, 403, forged.text)
    const made = await ann.call('POST', '/api/user/tokens', {
      body: { name: 'x', scopes: ['containers:write'], expires_in: 100 },
    })
    assert.equal((await berth.call('POST', '/api/container/files/dev', { body, token: made.body.token })).status, 403)
  })

  test('a type without a home, and one that was not launched, are told apart from failures', async () => {
    const gus = await berth.signUpWithoutContainer('gus@x.org')
    assertRefused(await put(gus, { git: course }), 409)
    assertRefused(await put(gus, { git: course }, 'bare'), 409)
    assertRefused(await put(gus, { git: course }, 'nothing'), 400)
  })
})
