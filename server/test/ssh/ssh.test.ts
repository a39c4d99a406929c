import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import ssh2, { type ClientChannel, type SFTPWrapper } from 'ssh2'
import { assertOk } from '#test/support/api-calls.ts'
import { testTemplates } from '#test/support/berth.ts'
import { waitLimit } from '#test/support/extent.ts'
import { freePort } from '#test/support/free-port.ts'
import { eventually } from '#test/support/engine/runtimes.ts'
import { findGit, findPerl, putPrograms } from './put-program.ts'
import { startKeyAgent } from './key-agent.ts'
import { sshArgs, startSsh, type Ended } from './ssh-rig.ts'

/** SSH into one's own containers, with Debian's OpenSSH client. Source: contract, section 17. */
const rig = await startSsh({ after }, { env: { CONTAINER_TEMPLATES: await templates() } })
const { berth } = rig
const boss = await berth.administrator()
const ann = await rig.signUp('ann@x.org')
const key = rig.makeKey('ann', '-t', 'ed25519')
await rig.addKey(ann, key)

/** `quick` is paused after two seconds, and stopped after a minute. */
async function templates(): Promise<string> {
  const { dev, prod } = JSON.parse(await testTemplates()) as Record<string, object>
  const quick = { ...dev, display_name: 'Quick', idle_pause: 2, idle_timeout: 60 }
  return JSON.stringify({ dev, prod, quick })
}

const ssh = (name: string, ...words: string[]) => rig.run('ssh', sshArgs(rig, key, name, ...words))
const said = ({ code, output, errors }: Ended) => ({ code, output: output.toString(), errors })

test('a command has its input, both outputs and its exit status, and a program that is killed its signal', async () => {
  const ended = await rig.run('ssh', sshArgs(rig, key, 'ann-dev', 'cat; echo err >&2; exit 7'), 'hello\n')
  assert.deepEqual(said(ended), { code: 7, output: 'hello\n', errors: 'err\n' })
  // OpenSSH's client has 255 for a signal.
  assert.equal((await ssh('ann-dev', 'kill -TERM $$')).code, 255)
  assert.equal((await ssh('ann-dev', '/no/such/program')).code, 127)
})

test('a shell has a terminal with a size, and the keys of a terminal', async (t) => {
  const script = 'stty -echo; tty; stty size; cat; echo after-$?'
  const child = rig.start('ssh', ['-tt', ...sshArgs(rig, key, 'ann-dev', script)])
  t.after(() => child.kill())
  let seen = ''
  child.stdout.on('data', (bytes: Buffer) => void (seen += bytes.toString()))
  await eventually(() => assert.match(seen, /\/dev\/pts\/\d+\r\n\d+ \d+\r\n/))
  // End of a line, and the end of the input.
  child.stdin.write('typed\n')
  await eventually(() => assert.match(seen, /typed\r\n/))
  child.stdin.write('\u0004')
  const [code] = (await once(child, 'close')) as [number]
  assert.match(seen, /after-0/)
  assert.equal(code, 0)
})

test('a key is refused that is not added, was removed, is another person’s, or for an unknown name', async () => {
  const other = rig.makeKey('other', '-t', 'ed25519')
  const refused = await rig.run('ssh', sshArgs(rig, other, 'ann-dev', 'true'))
  const unknown = await rig.run('ssh', sshArgs(rig, other, 'nobody-dev', 'true'))
  const strange = await rig.run('ssh', sshArgs(rig, key, '../etc', 'true'))
  const words = (ended: Ended) => ended.errors.replace(/^\S+@/, '')
  for (const each of [refused, unknown, strange]) assert.equal(each.code, 255)
  assert.match(refused.errors, /Permission denied \(publickey\)/)
  assert.equal(words(refused), words(unknown))
  assert.equal(words(refused), words(strange))
  const bob = await berth.signUpWithoutContainer('bob@x.org')
  const id = await rig.addKey(bob, other)
  assert.equal((await rig.run('ssh', sshArgs(rig, other, 'ann-dev', 'true'))).code, 255)
  assertOk(await bob.call('DELETE', `/api/user/ssh-keys/${id}`))
  assert.match((await rig.run('ssh', sshArgs(rig, other, 'bob-dev', 'true'))).errors, /Permission denied/)
})

test('two people may have the same key, and the name says whose container is meant', async () => {
  const bob = await berth.signUp('bobby@x.org')
  await rig.addKey(bob, key)
  const [one, two] = await Promise.all([ssh('ann-dev', 'echo $BERTH_EMAIL'), ssh('bobby-dev', 'echo $BERTH_EMAIL')])
  assert.deepEqual(
    [one, two].map(({ output }) => output.toString()),
    ['ann@x.org\n', 'bobby@x.org\n'],
  )
})

for (const [type, ...more] of [
  ['rsa', '-b', '2048'],
  ['ecdsa', '-b', '384'],
  ['ecdsa', '-b', '521'],
])
  test(`a key of type ${[type, ...more].join(' ')} lets its owner in`, async () => {
    const file = rig.makeKey([type, ...more].join(''), '-t', type ?? '', ...more)
    await rig.addKey(ann, file)
    assert.equal((await rig.run('ssh', sshArgs(rig, file, 'ann-dev', 'echo in'))).output.toString(), 'in\n')
  })

for (const type of ['sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com'] as const)
  test(`a security key of type ${type} lets its owner in, when it was touched`, async (t) => {
    const agent = await startKeyAgent(t, type, path.join(rig.folder, `${type}.sock`))
    assertOk(await ann.call('POST', '/api/user/ssh-keys', { body: { title: type, key: agent.line } }))
    const known = `UserKnownHostsFile=${path.join(rig.folder, 'known_hosts')}`
    const args = [
      '-F', '/dev/null', '-o', known, '-o', 'BatchMode=yes', '-o', `IdentityAgent=${agent.socket}`,
      '-p', String(rig.port), 'ann-dev@127.0.0.1', 'echo in',
    ] // prettier-ignore
    const { output, errors } = await rig.run('ssh', args)
    assert.equal(output.toString(), 'in\n', errors)
    agent.touch(false)
    assert.match((await rig.run('ssh', args)).errors, /Permission denied/)
  })

test('a container that was never launched is launched, one of an unknown type is refused in words with 255', async () => {
  assert.equal((await ssh('ann-prod', 'echo up')).output.toString(), 'up\n')
  const { code, errors } = await ssh('ann-nothing', 'true')
  assert.equal(code, 255)
  assert.match(errors, /Berth: .*nothing|Berth: .*dev, prod/)
})

test('files go both ways by sftp and scp, whole, with their mode, and in folders', async () => {
  const [bytes, local] = [randomBytes(5_000_000), path.join(rig.folder, 'large')]
  writeFileSync(local, bytes, { mode: 0o640 })
  const target = 'ann-dev@127.0.0.1'
  const options = [...rig.options(key), '-P', String(rig.port)]
  assert.equal((await rig.run('scp', [...options, '-p', local, `${target}:large`])).code, 0)
  assert.equal((await ssh('ann-dev', 'stat -c "%a %s" large')).output.toString(), '640 5000000\n')
  assert.equal((await rig.run('scp', [...options, `${target}:large`, `${local}-back`])).code, 0)
  assert.ok(readFileSync(`${local}-back`).equals(bytes))
  const batch =
    'mkdir one\ncd one\nput ' +
    local +
    ' two\nrename two three\nln -s three four\nls -l\nchmod 600 three\nget four ' +
    local +
    '-link\nrm three\ndf\n'
  const { code, output, errors } = await rig.run('sftp', ['-b', '-', ...options, target], batch)
  assert.equal(code, 0, errors)
  assert.match(output.toString(), /-rw-r-----.* 5000000 .* three/)
  assert.ok(readFileSync(`${local}-link`).equals(bytes))
  const missing = await rig.run('sftp', ['-b', '-', ...options, target], 'get nothing\n')
  assert.equal(missing.code, 1)
  assert.match(missing.errors, /not found|No such file/)
})

test('clients with the algorithms of the OpenSSH of ten years ago come in, by each of them', async () => {
  const old = [
    ['KexAlgorithms=curve25519-sha256@libssh.org', 'Ciphers=aes128-ctr', 'MACs=hmac-sha2-256'],
    ['KexAlgorithms=ecdh-sha2-nistp256', 'Ciphers=aes256-ctr', 'MACs=hmac-sha2-512-etm@openssh.com'],
    ['KexAlgorithms=curve25519-sha256', 'Ciphers=aes256-gcm@openssh.com', 'HostKeyAlgorithms=ssh-ed25519'],
  ]
  for (const each of old) {
    const options = each.flatMap((option) => ['-o', option])
    const { output, errors } = await rig.run('ssh', [...options, ...sshArgs(rig, key, 'ann-dev', 'echo in')])
    assert.equal(output.toString(), 'in\n', errors)
  }
})

test('a client that has AES-GCM at any place of its list uses it', async () => {
  const { errors } = await rig.run('ssh', [
    '-v',
    '-o',
    'Ciphers=aes128-ctr,aes256-gcm@openssh.com',
    ...sshArgs(rig, key, 'ann-dev', 'true'),
  ])
  assert.match(errors, /server->client cipher: aes256-gcm@openssh\.com/)
  assert.match(errors, /client->server cipher: aes256-gcm@openssh\.com/)
})

test('a client that sends no first packet before that of the server gets one that names every cipher', async () => {
  const socket = connect(rig.port, '127.0.0.1')
  socket.write('SSH-2.0-x\r\n')
  let seen = ''
  for await (const bytes of socket as AsyncIterable<Buffer>) {
    seen += bytes.toString('latin1')
    if (seen.includes('aes256-ctr')) break
  }
  assert.match(seen, /^SSH-2\.0-Berth\r\n[^]*aes128-gcm@openssh\.com/)
  assert.equal(seen.split('SSH-2.0').length, 2)
})

test('git clones and pushes over SSH where the image has git', async () => {
  const id = `${berth.installation}-ann-dev`
  await putPrograms(id, [findGit()])
  assert.equal((await ssh('ann-dev', 'git init -q --bare repository.git')).code, 0)
  const home = (await ssh('ann-dev', 'pwd')).output.toString().trim()
  const folder = path.join(rig.folder, 'clone')
  const command = ['ssh', ...rig.options(key)].map((word) => `'${word}'`).join(' ')
  const env = {
    ...process.env,
    GIT_SSH_COMMAND: command,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  }
  // Berth is in this process: it must not wait for git.
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@x.org', ...args], { env })
  await git('clone', '-q', `ssh://ann-dev@127.0.0.1:${rig.port}${home}/repository.git`, folder)
  writeFileSync(path.join(folder, 'notes.txt'), 'by git\n')
  await git('-C', folder, 'add', '.')
  await git('-C', folder, 'commit', '-q', '-m', 'Notes')
  await git('-C', folder, 'push', '-q', 'origin', 'HEAD:main')
  const { output } = await ssh('ann-dev', 'git --git-dir=repository.git show main:notes.txt')
  assert.equal(output.toString(), 'by git\n')
})

test('a copy that a block cuts ends with an error of the client, and what came is there', async () => {
  const max = await rig.berth.signUp('max@x.org')
  const file = rig.makeKey('max', '-t', 'ed25519')
  await rig.addKey(max, file)
  const local = path.join(rig.folder, 'endless')
  writeFileSync(local, '')
  truncateSync(local, 4e9)
  const child = rig.start('scp', [...rig.options(file), '-P', String(rig.port), local, 'max-dev@127.0.0.1:endless'])
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => void (errors += bytes.toString()))
  const size = async () =>
    Number((await rig.run('ssh', sshArgs(rig, file, 'max-dev', 'stat -c %s endless || echo 0'))).output.toString())
  await eventually(async () => assert.ok((await size()) > 1_000_000))
  const closed = once(child, 'close')
  assertOk(await boss.call('POST', `/api/admin/users/${max.id}/block`, { body: {} }))
  const begun = performance.now()
  const [code] = (await closed) as [number]
  assert.ok(performance.now() - begun < waitLimit(1_000))
  assert.notEqual(code, 0)
  assert.match(errors, /blocked|closed|lost/i)
})

test('a port of the container is reached by forwarding, and nothing else', async (t) => {
  const [port, own, named, closed, other] = await Promise.all(Array.from({ length: 5 }, () => freePort()))
  const hostName = (await ssh('ann-dev', 'hostname')).output.toString().trim()
  const targets = [
    `${port}:localhost:8080`,
    `${own}:ann-dev:8080`,
    `${named}:${hostName}:8080`,
    `${closed}:169.254.169.254:80`,
    `${other}:0123456789ab:8080`,
  ]
  const forwards = targets.flatMap((target) => ['-L', target])
  const child = rig.start('ssh', ['-N', ...forwards, ...sshArgs(rig, key, 'ann-dev')])
  t.after(() => child.kill())
  for (const each of [port, own, named])
    await eventually(async () => assert.equal((await fetch(`http://127.0.0.1:${each}/`)).status, 200))
  await assert.rejects(fetch(`http://127.0.0.1:${closed}/`))
  await assert.rejects(fetch(`http://127.0.0.1:${other}/`))
  const back = await ssh('ann-dev', '-R', '9:localhost:9', 'true')
  assert.notEqual(back.errors + String(back.code), '0')
  const remote = await rig.run('ssh', [
    '-o',
    'ExitOnForwardFailure=yes',
    '-R',
    '9999:localhost:9',
    ...sshArgs(rig, key, 'ann-dev', 'true'),
  ])
  assert.equal(remote.code, 255)
  assert.match(remote.errors, /remote port forwarding failed/)
})

test('a Unix socket of the container is reached from a port and from a socket of the client', async (t) => {
  await putPrograms(`${berth.installation}-ann-dev`, [findPerl()])
  const echo =
    'socket(S,1,1,0) && bind(S,pack("Sa108",1,"/tmp/echo.sock")) && listen(S,5) or die; while(accept(C,S)){while(sysread(C,$b,999)){syswrite(C,$b)}close C}'
  await ssh('ann-dev', `perl -e '${echo}' >/dev/null 2>&1 </dev/null &`)
  const [port, local] = [await freePort(), path.join(rig.folder, 'local.sock')]
  const forwards = ['-L', `${port}:/tmp/echo.sock`, '-L', `${local}:/tmp/echo.sock`]
  const child = rig.start('ssh', ['-N', ...forwards, ...sshArgs(rig, key, 'ann-dev')])
  t.after(() => child.kill())
  for (const where of [{ port, host: '127.0.0.1' }, { path: local }])
    await eventually(async () => {
      const socket = connect(where)
      socket.write('over a socket')
      const [bytes] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [unknown]
      socket.destroy()
      assert.equal(String(bytes), 'over a socket')
    })
  await ssh('ann-dev', 'pkill perl; true')
})

test('neither the agent, nor X11, nor variables of the client come along', async () => {
  const args = ['-A', '-X', '-o', 'SetEnv=LD_PRELOAD=/tmp/x EVIL=yes', ...sshArgs(rig, key, 'ann-dev', 'env')]
  const { output } = await rig.run('ssh', args)
  assert.doesNotMatch(output.toString(), /EVIL|LD_PRELOAD|SSH_AUTH_SOCK|DISPLAY/)
})

test('removing its key ends a session within a second', async () => {
  const file = rig.makeKey('short', '-t', 'ed25519')
  const id = await rig.addKey(ann, file)
  const child = rig.start('ssh', sshArgs(rig, file, 'ann-dev', 'echo up; sleep 100'))
  await once(child.stdout, 'data')
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => void (errors += bytes.toString()))
  const begun = performance.now()
  assertOk(await ann.call('DELETE', `/api/user/ssh-keys/${id}`))
  await once(child, 'close')
  assert.ok(performance.now() - begun < waitLimit(1_000))
  assert.match(errors, /The key of this session was removed/)
})

test('a stop of the container and a block of the account end sessions with a line, and new ones are refused', async () => {
  const eve = await berth.signUp('eve@x.org')
  const file = rig.makeKey('eve', '-t', 'ed25519')
  await rig.addKey(eve, file)
  const ended = async (act: () => Promise<unknown>) => {
    const child = rig.start('ssh', sshArgs(rig, file, 'eve-dev', 'echo up; sleep 100'))
    let errors = ''
    child.stderr.on('data', (bytes: Buffer) => void (errors += bytes.toString()))
    await once(child.stdout, 'data')
    const closed = once(child, 'close')
    await act()
    const begun = performance.now()
    await closed
    assert.ok(performance.now() - begun < waitLimit(1_000))
    return errors
  }
  assert.match(await ended(() => eve.call('POST', '/api/container/stop/dev')), /The container was stopped/)
  const blocked = await ended(() => boss.call('POST', `/api/admin/users/${eve.id}/block`, { body: {} }))
  assert.match(blocked, /blocked/)
  const { code, errors } = await rig.run('ssh', sshArgs(rig, file, 'eve-dev', 'true'))
  assert.equal(code, 255)
  assert.match(errors, /Berth: .*blocked/)
})

test('removing the account ends its sessions within a second, and its key opens nothing any more', async () => {
  const eve = await berth.signUp('eva@x.org')
  const file = rig.makeKey('eva', '-t', 'ed25519')
  await rig.addKey(eve, file)
  const child = rig.start('ssh', sshArgs(rig, file, 'eva-dev', 'echo up; sleep 100'))
  child.stderr.resume()
  await once(child.stdout, 'data')
  const closed = once(child, 'close').then(() => performance.now())
  assertOk(await boss.call('DELETE', `/api/admin/users/${eve.id}`))
  const removed = performance.now()
  assert.ok((await closed) - removed < waitLimit(1_000))
  const { code, errors } = await rig.run('ssh', sshArgs(rig, file, 'eva-dev', 'true'))
  assert.equal(code, 255)
  assert.match(errors, /Permission denied \(publickey\)/)
})

async function stateOfQuick(): Promise<string | undefined> {
  const { body } = await ann.call('GET', '/api/user/containers')
  const all = body.containers as { type: string; status: string }[]
  return all.find((each) => each.type === 'quick')?.status
}

test('an idle session stays while its container is paused, and its next byte wakes it', async (t) => {
  // Two questions without an answer would end it. They are no use of the container.
  const alive = ['-o', 'ServerAliveInterval=1', '-o', 'ServerAliveCountMax=2']
  const child = rig.start('ssh', [...alive, ...sshArgs(rig, key, 'ann-quick', 'echo up; cat')])
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  await eventually(async () => assert.equal(await stateOfQuick(), 'paused'))
  await sleep(5_000)
  assert.equal(await stateOfQuick(), 'paused')
  assert.equal(child.exitCode, null)
  child.stdin.write('awake\n')
  const [bytes] = (await once(child.stdout, 'data')) as [Buffer]
  assert.equal(bytes.toString(), 'awake\n')
  child.stdin.end()
  await once(child, 'close')
})

test('what goes through a session counts as use of the container, and a forwarded connection alone wakes it', async (t) => {
  const port = await freePort()
  // Output alone: its client sends nothing. It is paused after two seconds without use.
  const child = rig.start('ssh', sshArgs(rig, key, 'ann-quick', 'for n in 1 2 3 4 5 6 7 8; do echo $n; sleep 1; done'))
  t.after(() => child.kill())
  const ended = once(child, 'close')
  const states = new Set<string | undefined>()
  child.stdout.on('data', () => void stateOfQuick().then((state) => states.add(state)))
  await ended
  assert.deepEqual([...states], ['running'])
  const forwarding = rig.start('ssh', ['-N', '-L', `${port}:localhost:8080`, ...sshArgs(rig, key, 'ann-quick')])
  t.after(() => forwarding.kill())
  await eventually(async () => assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200))
  await eventually(async () => assert.equal(await stateOfQuick(), 'paused'))
  // The first one may take a connection of before, which the application has closed meanwhile.
  await eventually(async () => assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200))
  const left = once(forwarding, 'close')
  assertOk(await ann.call('POST', '/api/container/stop/quick'))
  await left
  await eventually(async () => assert.equal(await stateOfQuick(), 'exited'))
  const again = rig.start('ssh', ['-N', '-L', `${port}:localhost:8080`, ...sshArgs(rig, key, 'ann-quick')])
  t.after(() => again.kill())
  await eventually(async () => assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200))
  assert.equal(await stateOfQuick(), 'running')
})

test('an eleventh session of a person is refused in words', async (t) => {
  const children = Array.from({ length: 10 }, () =>
    rig.start('ssh', sshArgs(rig, key, 'ann-dev', 'echo up; sleep 100')),
  )
  t.after(() => children.forEach((child) => child.kill()))
  await Promise.all(children.map((child) => once(child.stdout, 'data')))
  const { code, errors } = await ssh('ann-dev', 'true')
  assert.equal(code, 255)
  assert.match(errors, /10 SSH sessions/)
  for (const child of children) child.kill()
  await eventually(async () => assert.equal((await ssh('ann-dev', 'true')).code, 0))
})

test('mosh is refused with words', async () => {
  const { code, errors } = await ssh('ann-dev', 'mosh-server new -s')
  assert.equal(code, 255)
  assert.match(errors, /mosh/)
})

test('what an editor does works: a probe, a script on standard input, and connections to what it starts', async (t) => {
  const probe = await rig.run(
    'ssh',
    ['-T', ...sshArgs(rig, key, 'ann-dev', 'sh')],
    'uname -sm; echo "$HOME"; command -v tar >/dev/null && echo tar\n',
  )
  assert.match(probe.output.toString(), /^Linux \S+\n\/\S+\n/)
  const script =
    'cat > server.sh <<"X"\n#!/bin/sh\nwhile true; do echo ready | nc -l -p 4567; done\nX\nchmod +x server.sh\n./server.sh >/dev/null 2>&1 </dev/null &\necho started\n'
  const started = await rig.run('ssh', ['-T', ...sshArgs(rig, key, 'ann-dev', 'sh')], script)
  assert.equal(started.output.toString(), 'started\n')
  // As VS Code has it: a shell that reads its script, and a SOCKS proxy beside it.
  const socks = await freePort()
  const shell = rig.start('ssh', ['-T', '-D', String(socks), ...sshArgs(rig, key, 'ann-dev', 'sh')])
  t.after(() => shell.kill())
  shell.stdin.write('echo listening\n')
  await once(shell.stdout, 'data')
  await eventually(async () => {
    const socket = connect(socks, '127.0.0.1')
    t.after(() => socket.destroy())
    // SOCKS 5 without a password, to 127.0.0.1:8080 (RFC 1928).
    socket.write(Buffer.from('050100', 'hex'))
    assert.deepEqual(((await once(socket, 'data')) as [Buffer])[0], Buffer.from('0500', 'hex'))
    socket.write(Buffer.from('050100017f0000011f90', 'hex'))
    assert.equal(((await once(socket, 'data')) as [Buffer])[0][1], 0)
    socket.write('GET / HTTP/1.0\r\n\r\n')
    assert.match(String(((await once(socket, 'data')) as [Buffer])[0]), /^HTTP\/1\.\d 200/)
  })
  // What was started goes on after its session, and is reached by another.
  await eventually(async () => {
    const child = rig.start('ssh', ['-W', '127.0.0.1:4567', ...sshArgs(rig, key, 'ann-dev')])
    const [bytes] = (await Promise.race([once(child.stdout, 'data'), once(child, 'close')])) as [unknown]
    child.kill()
    assert.equal(String(bytes), 'ready\n')
  })
  await ssh('ann-dev', 'pkill -f server.sh; pkill nc; true')
})

test('what JetBrains Gateway does works: on one connection, with its questions whether the server is there', async (t) => {
  // Its library asks so (`keepalive@openssh.com`), and takes any answer.
  const client = new ssh2.Client().on('error', () => undefined)
  t.after(() => client.destroy())
  const privateKey = readFileSync(key)
  const where = { host: '127.0.0.1', port: rig.port, username: 'ann-dev', privateKey }
  client.connect({ ...where, keepaliveInterval: 200, keepaliveCountMax: 2 })
  await once(client, 'ready')
  const exec = async (command: string) => {
    const channel = await new Promise<ClientChannel>((resolve, reject) =>
      client.exec(command, (error, given) => (error ? reject(error) : resolve(given))),
    )
    const ended = once(channel, 'close') as Promise<[number]>
    const said = (await buffer(channel)).toString()
    return { said, code: (await ended)[0] }
  }
  assert.match((await exec('uname -sm; echo "$HOME"; echo "$SHELL"')).said, /^Linux \S+\n\/\S+\n/)
  const folder = '.cache/JetBrains/RemoteDev'
  assert.equal((await exec(`mkdir -p ~/${folder}`)).code, 0)
  // The worker is uploaded under another name, made executable and renamed; it starts the IDE, which goes on without it.
  const sftp = await new Promise<SFTPWrapper>((resolve, reject) =>
    client.sftp((error, given) => (error ? reject(error) : resolve(given))),
  )
  const done = (run: (done: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve, reject) => run((error) => (error ? reject(error) : resolve())))
  const ide = 'while true; do echo ready | nc -l -p 5990; done'
  const worker = `#!/bin/sh\n# ${'x'.repeat(3_000_000)}\n(${ide}) >/dev/null 2>&1 </dev/null &\necho 'joinLink tcp://127.0.0.1:5990'\n`
  await done((end) => sftp.writeFile(`${folder}/worker.part`, worker, { mode: 0o600 }, end))
  await done((end) => sftp.chmod(`${folder}/worker.part`, 0o755, end))
  await done((end) => sftp.rename(`${folder}/worker.part`, `${folder}/worker`, end))
  const size = await new Promise<number>((resolve, reject) =>
    sftp.stat(`${folder}/worker`, (error, found) => (error ? reject(error) : resolve(found.size))),
  )
  assert.equal(size, worker.length)
  assert.deepEqual(await exec(`~/${folder}/worker`), { said: 'joinLink tcp://127.0.0.1:5990\n', code: 0 })
  t.after(() => ssh('ann-dev', 'pkill -f RemoteDev; pkill nc; true'))
  for (const host of ['127.0.0.1', 'localhost'])
    await eventually(async () => {
      const channel = await new Promise<ClientChannel>((resolve, reject) =>
        client.forwardOut('127.0.0.1', 40_000, host, 5990, (error, given) => (error ? reject(error) : resolve(given))),
      )
      const [bytes] = (await Promise.race([once(channel, 'data'), once(channel, 'close')])) as [unknown]
      channel.close()
      assert.equal(String(bytes), 'ready\n')
    })
  await sleep(1_000)
  assert.deepEqual(await exec('echo there'), { said: 'there\n', code: 0 })
})

test('each key and each session is in the audit log, and the mail of the account is told of a new key', async () => {
  const actions = async (action: string) =>
    (await boss.call('GET', `/api/admin/audit?action=${action}`)).body.entries as { detail: Record<string, unknown> }[]
  const [added] = await actions('ssh.add-key')
  assert.match(String(added?.detail['fingerprint']), /^SHA256:/)
  assert.ok((await actions('ssh.remove-key')).length > 0)
  const [session] = await actions('ssh.session')
  assert.equal(session?.detail['type'], 'dev')
  await eventually(() => assert.ok(berth.mail.received.some(({ subject }) => /new SSH key/i.test(String(subject)))))
})

test('GET /api/ssh and ssh-config tell how to connect, and OpenSSH reads the text', async () => {
  const { body } = await berth.call('GET', '/api/ssh')
  assert.equal(body.port, rig.port)
  assert.match(body.host_keys[0] as string, new RegExp(`^\\[${body.host}\\]:${rig.port} ssh-ed25519 AAAA`))
  const config = await ann.call('GET', '/api/user/ssh-config')
  assert.equal(config.headers.get('content-type'), 'text/plain; charset=utf-8')
  const file = path.join(rig.folder, 'config')
  writeFileSync(file, config.text)
  const read = execFileSync('ssh', ['-G', '-F', file, 'ann-dev']).toString()
  assert.match(read, new RegExp(`^port ${rig.port}$`, 'm'))
  assert.match(read, /^user ann-dev$/m)
  assert.match(read, new RegExp(`^hostname ${body.host}$`, 'm'))
})

test('a port where nothing listens is refused to the client', async () => {
  assert.equal((await rig.run('ssh', ['-W', 'localhost:4999', ...sshArgs(rig, key, 'ann-dev')])).code, 255)
})
