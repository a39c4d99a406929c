// Part of npm run test:more: attacks take half a minute; ssh.test.ts has what people do.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import ssh2, { type Client, type ClientChannel, type ConnectConfig, type SFTPWrapper } from 'ssh2'
import { waitLimit } from '#test/support/extent.ts'
import { eventually } from '#test/support/engine/runtimes.ts'
import { childrenOf } from '#test/support/child-processes.ts'
import { sshArgs, startSsh } from './ssh-rig.ts'

/** Clients that attack the SSH server, before and after they have proved who they are. */
const rig = await startSsh({ after })
await rig.berth.administrator()
const ann = await rig.signUp('ann@x.org')
await rig.berth.signUp('bob@x.org')
const key = rig.makeKey('ann', '-t', 'ed25519')
await rig.addKey(ann, key)

/** Resident memory of the SSH process, in bytes. */
function memory(): number {
  const [pid] = childrenOf(process.pid).filter((each) =>
    readFileSync(`/proc/${each}/cmdline`, 'latin1').includes('ssh-process'),
  )
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
  return Number(kilobytes) * 1024
}

const stillServes = async () => {
  const { code, output, errors } = await rig.run('ssh', sshArgs(rig, key, 'ann-dev', 'echo well'))
  assert.equal(output.toString(), 'well\n', `${code} ${errors}`)
}

async function open(options: Partial<ConnectConfig> = {}): Promise<Client> {
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  const privateKey = readFileSync(key)
  client.connect({ host: '127.0.0.1', port: rig.port, username: 'ann-dev', privateKey, ...options })
  await once(client, 'ready')
  return client
}

const fails = (options: Partial<ConnectConfig>) => assert.rejects(open(options))

async function raw(): Promise<Socket> {
  const socket = connect(rig.port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'data')
  return socket
}

test('no password, no keyboard, no host key and no old algorithm lets a client in', async () => {
  await fails({ privateKey: undefined as never, password: 'secret' })
  await fails({ privateKey: undefined as never, password: 'secret', tryKeyboard: true })
  await fails({ algorithms: { kex: ['diffie-hellman-group14-sha1'] } })
  await fails({ algorithms: { cipher: ['aes128-cbc'] } })
  await fails({ algorithms: { cipher: ['aes128-ctr'], hmac: ['hmac-sha1'] } })
  await fails({ algorithms: { compress: ['zlib'] } })
})

test('no spelling of a name opens a container of another person', async () => {
  const names = [
    'bob-dev', 'ann-dev@bob-dev', 'bob-dev\0ann-dev', 'ann', 'ann-', '-dev', 'ANN-DEV', 'ann_dev', ' ann-dev', 'ann-dev ',
    "ann' or '1'='1-dev", '../ann-dev', '%61nn-dev', `${'a'.repeat(30_000)}-dev`, 'ann-dev/../../bob-dev', 'root',
  ] // prettier-ignore
  for (const username of names) {
    const client = await open({ username }).catch(() => undefined)
    if (!client) continue
    const { code, said } = await exec(client, 'echo $BERTH_EMAIL')
    client.end()
    assert.ok(code === 255 || said === 'ann@x.org\n', `${username}: ${code} ${said}`)
  }
  await stillServes()
})

async function exec(client: Client, command: string): Promise<{ code: number; said: string }> {
  const channel = await new Promise<ClientChannel>((resolve, reject) =>
    client.exec(command, (error, given) => (error ? reject(error) : resolve(given))),
  )
  let said = ''
  channel.on('data', (bytes: Buffer) => void (said += bytes.toString()))
  channel.stderr.on('data', (bytes: Buffer) => void (said += bytes.toString()))
  const [code] = (await once(channel, 'close')) as [number]
  return { code, said }
}

test('bytes that are no SSH, cut packets and early ends cost nothing', async () => {
  const before = memory()
  for (let n = 0; n < 150; n++) {
    const socket = await raw().catch(() => undefined)
    if (!socket) break
    const kinds = [
      () => socket.write('GET / HTTP/1.1\r\n\r\n'),
      () => socket.write(`SSH-2.0-x\r\n${randomBytes(200).toString('latin1')}`),
      () =>
        socket.write(
          Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), Buffer.from('ffffffff14', 'hex'), randomBytes(5_000)]),
        ),
      () =>
        socket.write(Buffer.concat([Buffer.from('SSH-2.0-x\r\n'), Buffer.from('0000000c0a', 'hex'), Buffer.alloc(20)])),
      () => socket.write('x'.repeat(300_000)),
      () => socket.destroy(),
    ]
    kinds[n % kinds.length]?.()
    setTimeout(() => socket.destroy(), 300)
  }
  await sleep(500)
  await stillServes()
  assert.ok(memory() - before < 80e6, `${(memory() - before) / 1e6} MB`)
})

test('a flood of connections that say nothing leaves room for requests and is bounded for each network', async () => {
  const sockets = Array.from({ length: 300 }, () => {
    const socket = connect(rig.port, '127.0.0.1')
    return socket.on('error', () => undefined)
  })
  await sleep(1_000)
  const open = sockets.filter((socket) => !socket.destroyed && socket.bytesRead > 0).length
  assert.ok(open <= 64, String(open))
  const { status } = await rig.berth.call('GET', '/api/ssh')
  assert.equal(status, 200)
  for (const socket of sockets) socket.destroy()
  await eventually(stillServes)
})

test('channels are bounded, and of those that are refused nothing stays', async () => {
  const client = await open()
  const opened = await Promise.all(
    Array.from(
      { length: 40 },
      () => new Promise<boolean>((resolve) => client.exec('sleep 5', (error) => resolve(error === undefined))),
    ),
  )
  assert.equal(opened.filter(Boolean).length, 10)
  const forwards = await Promise.all(
    Array.from(
      { length: 20 },
      () =>
        new Promise<boolean>((resolve) =>
          client.forwardOut('x', 1, '10.0.0.1', 22, (error) => resolve(error === undefined)),
        ),
    ),
  )
  assert.ok(!forwards.some(Boolean))
  client.end()
})

test('agents, X11, listeners, other subsystems and other kinds of channels are refused', async () => {
  const client = await open()
  const refused = (begin: (done: (error?: Error | null) => void) => unknown) =>
    new Promise<boolean>((resolve) => void begin((error) => resolve(error !== undefined && error !== null)))
  assert.ok(await refused((done) => client.forwardIn('0.0.0.0', 0, done)))
  assert.ok(await refused((done) => client.openssh_forwardInStreamLocal('/tmp/x', done)))
  assert.ok(await refused((done) => client.subsys('netconf', done)))
  assert.ok(await refused((done) => client.exec('true', { x11: true }, done)))
  for (const target of ['169.254.169.254', '127.0.0.1.nip.io', 'bob-dev', '172.17.0.1', 'host.docker.internal'])
    assert.ok(await refused((done) => client.forwardOut('x', 1, target, 80, done)), target)
  for (const socket of ['relative', '/x\0y', `/${'a'.repeat(200)}`])
    assert.ok(await refused((done) => client.openssh_forwardOutStreamLocal(socket, done)), socket)
  client.end()
})

test('a client that does not read makes its program wait, and the memory stays flat', async () => {
  const client = await open()
  const before = memory()
  client.exec('cat /dev/zero', () => undefined)
  // The socket is stopped, whatever the windows of its channels are.
  await sleep(200)
  const { _sock: socket } = client as unknown as { _sock: Socket }
  socket.pause()
  await sleep(2_000)
  assert.ok(memory() - before < 60e6, `${(memory() - before) / 1e6} MB`)
  socket.destroy()
  await stillServes()
})

test('a client that sends beyond its window to a program that does not read is ended', async () => {
  const client = await open()
  const before = memory()
  const closed = new Promise<void>((resolve) => void client.once('close', () => resolve()))
  const channel = await new Promise<ClientChannel>((resolve) => client.exec('sleep 30', (_, given) => resolve(given)))
  // The library lets the client believe in any window.
  ;(channel as unknown as { outgoing: { window: number } }).outgoing.window = 2 ** 32
  for (let n = 0; n < 200; n++) channel.write(Buffer.alloc(1_000_000))
  await closed
  assert.ok(memory() - before < 80e6, `${(memory() - before) / 1e6} MB`)
  await stillServes()
})

test('of programs that do not read no tool is left in the container when their client has gone', async () => {
  const tools = async () => {
    const client = await open()
    const { said } = await exec(client, "ps -o args | grep -c '[b]erth-tool session'")
    client.end()
    // That of this command.
    return Number(said) - 1
  }
  await eventually(async () => assert.equal(await tools(), 0))
  const client = await open()
  for (const [command, pty] of [
    ['exec sleep 300', false],
    ['trap "" HUP; sleep 300', true],
    ['cat /dev/zero', false],
  ] as const) {
    const channel = await new Promise<ClientChannel>((resolve) =>
      client.exec(command, { pty }, (_, given) => resolve(given)),
    )
    for (let n = 0; n < 20; n++) channel.write(Buffer.alloc(100_000, 'x'))
  }
  await eventually(async () => assert.equal(await tools(), 3))
  await sleep(waitLimit(500))
  client.destroy()
  await eventually(async () => assert.equal(await tools(), 0))
  const last = await open()
  await exec(last, 'pkill sleep; true')
  last.end()
})

test('connections whose session is refused are bounded as those that have proved nothing', async (t) => {
  const clients: Client[] = []
  t.after(async () => {
    for (const client of clients) client.destroy()
    // The server hears of their ends one by one.
    await eventually(stillServes)
  })
  const bounded = (async () => {
    // 10 sessions, 64 that are refused one, and some more.
    for (let n = 0; n < 90; n++) clients.push(await open())
  })()
  await assert.rejects(bounded)
  assert.ok(clients.length <= 74, String(clients.length))
})

test('a channel whose packets may have no length, and endless requests, do not stop the server', async () => {
  const empty = await open()
  const { _protocol: protocol } = empty as unknown as {
    _protocol: { session(channel: number, window: number, packet: number): void }
  }
  const closed = once(empty, 'close')
  protocol.session(7, 2 ** 31, 0)
  await closed
  const client = await open()
  const parts = client as unknown as { _protocol: { ping(): void }; _sock: Socket }
  const { _protocol: speaker, _sock: socket } = parts
  socket.pause()
  for (let n = 0; n < 50_000; n++) speaker.ping()
  await sleep(1_000)
  await stillServes()
  client.destroy()
})

test('more than 20 keys offered in one connection end it', async () => {
  const files = Array.from({ length: 21 }, (_, index) => rig.makeKey(`many${index}`, '-t', 'ed25519'))
  const offered = files.flatMap((file) => ['-i', file])
  const args = [
    ...rig.options(files[0] ?? ''),
    ...offered,
    '-i',
    key,
    '-p',
    String(rig.port),
    'ann-dev@127.0.0.1',
    'true',
  ]
  const { code } = await rig.run('ssh', args)
  assert.equal(code, 255)
  await stillServes()
})

test('the window of a terminal follows the client, and a signal reaches its program', async () => {
  const client = await open()
  const channel = await new Promise<ClientChannel>((resolve) =>
    client.shell({ term: 'xterm', cols: 80, rows: 24 }, (_, given) => resolve(given)),
  )
  let seen = ''
  channel.on('data', (bytes: Buffer) => void (seen += bytes.toString()))
  channel.setWindow(50, 132, 0, 0)
  channel.write('stty size\n')
  await eventually(() => assert.match(seen, /50 132/))
  channel.end('exit\n')
  await once(channel, 'close')
  const program = await new Promise<ClientChannel>((resolve) => client.exec('sleep 100', (_, given) => resolve(given)))
  await sleep(waitLimit(300))
  program.signal('TERM')
  const [, signal] = (await once(program, 'exit')) as [null, string]
  assert.equal(signal, 'SIGTERM')
  client.end()
})

/** The packet in front of which the length of the next bytes stands, as it is before keys are exchanged. */
function plainPacket(payload: Buffer): Buffer {
  const padding = 8 - ((payload.length + 5) % 8) + 8
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length + padding + 1)
  head[4] = padding
  return Buffer.concat([head, payload, Buffer.alloc(padding)])
}

const string = (content: Buffer | string): Buffer => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(content))
  return Buffer.concat([length, Buffer.from(content)])
}
const number = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

// CVE-2023-48795: a message before the keys that moves the numbers of what follows.
test('with strict key exchange a message that does not belong there ends the connection', async () => {
  const kexInit = (kex: string) =>
    Buffer.concat([
      Buffer.of(20), randomBytes(16), string(kex), string('ssh-ed25519'),
      ...['aes128-ctr', 'aes128-ctr', 'hmac-sha2-256', 'hmac-sha2-256', 'none', 'none', '', ''].map(string),
      Buffer.alloc(5),
    ]) // prettier-ignore
  const isEnded = async (kex: string) => {
    const socket = connect(rig.port, '127.0.0.1').on('error', () => undefined)
    let seen = Buffer.alloc(0)
    socket.on('data', (bytes: Buffer) => void (seen = Buffer.concat([seen, bytes])))
    socket.write('SSH-2.0-x\r\n')
    socket.write(plainPacket(kexInit(kex)))
    await eventually(() => assert.ok(seen.includes('kex-strict-s-v00@openssh.com')))
    const closed = new Promise<true>((resolve) => void socket.once('close', () => resolve(true)))
    // SSH_MSG_IGNORE
    socket.write(plainPacket(Buffer.concat([Buffer.of(2), string('x')])))
    const ended = await Promise.race([closed, sleep(waitLimit(1_500), false)])
    socket.destroy()
    return ended
  }
  assert.equal(await isEnded('curve25519-sha256,kex-strict-c-v00@openssh.com'), true)
  assert.equal(await isEnded('curve25519-sha256'), false, 'without it the message is allowed')
})

/** Sends what the library of the client would not. */
function send(client: Client, payload: Buffer): void {
  const { _protocol: protocol } = client as unknown as {
    _protocol: {
      _packetRW: { write: { allocStart: number; alloc(size: number): Buffer; finalize(packet: Buffer): Buffer } }
      _cipher: { encrypt(packet: Buffer): void }
    }
  }
  const { _packetRW: parts, _cipher: cipher } = protocol
  const packet = parts.write.alloc(payload.length)
  packet.set(payload, parts.write.allocStart)
  cipher.encrypt(parts.write.finalize(packet))
}

test('a client that announces huge windows and then reads nothing makes its programs wait, and the memory stays flat', async () => {
  const client = await open()
  const before = memory()
  const { _sock: socket } = client as unknown as { _sock: Socket }
  const most = number(0xffffffff)
  for (let id = 0; id < 8; id++) {
    send(client, Buffer.concat([Buffer.of(90), string('session'), number(100 + id), most, most]))
    send(client, Buffer.concat([Buffer.of(98), number(id), string('exec'), Buffer.of(0), string('cat /dev/zero')]))
  }
  // More than any window of a usual client: nothing of what comes is acknowledged.
  await eventually(() => assert.ok(socket.bytesRead > 20e6, String(socket.bytesRead)))
  socket.pause()
  await sleep(2_000)
  assert.ok(memory() - before < 80e6, `${(memory() - before) / 1e6} MB`)
  socket.destroy()
  await stillServes()
})

test('copies both ways are whole although the keys are exchanged anew in the middle of them', async () => {
  const copied = randomBytes(20_000_000)
  const again = ['-v', '-o', 'RekeyLimit=1M']
  const copy = (command: string, input?: Buffer) =>
    rig.run('ssh', [...again, ...sshArgs(rig, key, 'ann-dev', command)], input)
  const up = await copy('cat > copied', copied)
  const down = await copy('cat copied; rm copied')
  for (const { code, errors } of [up, down]) {
    assert.equal(code, 0, errors)
    assert.ok(errors.split('rekeying in progress').length > 5, errors)
  }
  assert.ok(down.output.equals(copied))
})

test('packets that break the protocol after the proof end the connection or nothing, and the memory stays flat', async () => {
  const [opening, data, request, global] = [90, 94, 98, 80].map((kind) => Buffer.of(kind))
  const kinds = ['x11', 'auth-agent@openssh.com', 'forwarded-tcpip', 'tun@openssh.com', 'session\0', 's'.repeat(9_000)]
  const most = number(0xffffffff)
  const packets = [
    ...kinds.map((kind) => Buffer.concat([opening!, string(kind), number(7), most, most])),
    Buffer.concat([opening!, string('session'), most, most, most]),
    Buffer.concat([opening!, string('session')]),
    Buffer.concat([opening!, most]),
    Buffer.concat([opening!, string('direct-tcpip'), number(1), most, most, string('localhost'), most, string('x'), most]),
    Buffer.concat([data!, number(4_711), string('bytes of no channel')]),
    Buffer.concat([data!, number(0), most]),
    ...[93, 95, 96, 97, 99, 100].map((kind) => Buffer.concat([Buffer.of(kind), number(4_711), most])),
    Buffer.concat([request!, number(4_711), string('exec'), Buffer.of(1), string('id')]),
    Buffer.concat([request!, number(0), string('exec')]),
    Buffer.concat([global!, string('tcpip-forward'), Buffer.of(1), string('0.0.0.0'), most]),
    Buffer.concat([global!, string('hostkeys-prove-00@openssh.com'), Buffer.of(1), most]),
    Buffer.concat([global!, most]),
    ...[0, 5, 6, 20, 21, 30, 31, 50, 51, 52, 60, 81, 82, 127, 192, 255].map((kind) => Buffer.of(kind)),
    Buffer.alloc(0),
    randomBytes(34_000),
  ] // prettier-ignore
  const before = memory()
  for (const packet of packets) {
    const client = await open()
    try {
      send(client, packet)
      await sleep(20)
    } catch {
      // Its own library does not make it.
    }
    client.destroy()
  }
  const { _sock: socket } = (await open()) as unknown as { _sock: Socket }
  // Bytes without a tag of their own.
  socket.write(randomBytes(5_000))
  await eventually(() => assert.ok(socket.destroyed))
  await eventually(stillServes)
  assert.ok(memory() - before < 80e6, `${(memory() - before) / 1e6} MB`)
})

test('a flood of channels and requests on one connection leaves the memory flat', async () => {
  const before = memory()
  const client = await open()
  const session = (id: number) =>
    Buffer.concat([Buffer.of(90), string('session'), number(id), number(1_000), number(1_000)])
  for (let id = 0; id < 20_000; id++) send(client, session(id))
  const variable = [Buffer.of(98), number(0), string('env'), Buffer.of(0), string('LD_PRELOAD'), string('/tmp/x')]
  for (let n = 0; n < 20_000; n++) send(client, Buffer.concat(variable))
  await sleep(1_500)
  assert.ok(memory() - before < 80e6, `${(memory() - before) / 1e6} MB`)
  client.destroy()
  await stillServes()
})

test('variables and agents that a client asks for reach no program', async () => {
  const client = await open()
  const env = { LD_PRELOAD: '/tmp/x.so', BASH_ENV: '/tmp/x', PATH: '/tmp', EVIL: 'yes', 'A=B': 'c' }
  const channel = await new Promise<ClientChannel>((resolve, reject) =>
    client.exec('env', { env }, (error, given) => (error ? reject(error) : resolve(given))),
  )
  let said = ''
  channel.on('data', (bytes: Buffer) => void (said += bytes.toString()))
  await once(channel, 'close')
  assert.match(said, /BERTH_EMAIL=ann@x\.org/)
  assert.doesNotMatch(said, /LD_PRELOAD|BASH_ENV|PATH=\/tmp$|EVIL|A=B|SSH_AUTH_SOCK/m)
  client.end()
})

test('paths and packets of SFTP lead to nothing but the files of the container, and end at their bounds', async () => {
  const marker = `${rig.folder}/marker`
  writeFileSync(marker, 'of the host')
  const client = await open()
  const sftp = await new Promise<SFTPWrapper>((resolve, reject) =>
    client.sftp((error, given) => (error ? reject(error) : resolve(given))),
  )
  const read = (file: string) =>
    new Promise<string | undefined>((resolve) =>
      sftp.readFile(file, (error, bytes) => resolve(error ? undefined : bytes.toString())),
    )
  const up = '../'.repeat(60)
  for (const file of [
    marker,
    up + marker,
    `/proc/1/root${marker}`,
    `/proc/self/root/${up}${marker}`,
    `/${up}${marker}`,
  ])
    assert.equal(await read(file), undefined, file)
  assert.equal(await read(`${'a/'.repeat(60_000)}x`), undefined)
  assert.equal(await read('/etc/passwd\0.txt'), undefined)
  const refused = (run: (done: (error?: Error | null) => void) => void) =>
    new Promise<boolean>((resolve) => run((error) => resolve(Boolean(error))))
  assert.ok(await refused((done) => sftp.unlink('/.berth/berth-tool', done)))
  assert.ok(await refused((done) => sftp.writeFile('/.berth/berth-tool', 'x', (error) => done(error))))
  assert.ok(await refused((done) => sftp.symlink('/bin/sh', '/.berth/other', done)))
  client.end()

  // Packets that its client's library does not make: lengths beyond the end, handles that are none, early ends.
  const packets = [
    number(0xffffffff), number(0), Buffer.concat([number(5), Buffer.of(1), number(3), number(900_000), Buffer.of(5)]),
    Buffer.concat([number(5), Buffer.of(1), number(3), string(Buffer.concat([Buffer.of(5), number(1), number(0xffffffff)]))]),
    Buffer.concat([number(5), Buffer.of(1), number(3), string(Buffer.concat([Buffer.of(5), number(1), string('none'), Buffer.alloc(8, 255), number(0xffffffff)]))]),
    Buffer.concat([number(5), Buffer.of(1), number(3), ...Array.from({ length: 3_000 }, () => string(Buffer.concat([Buffer.of(11), number(1), string('/')])))]),
    randomBytes(100_000),
  ] // prettier-ignore
  const before = memory()
  for (const packet of packets) {
    const other = await open()
    const channel = await new Promise<ClientChannel>((resolve, reject) =>
      other.subsys('sftp', (error, given) => (error ? reject(error) : resolve(given))),
    )
    channel.resume().end(packet)
    await once(channel, 'close')
    other.end()
  }
  assert.ok(memory() - before < 60e6, `${(memory() - before) / 1e6} MB`)
  await stillServes()
})

test('a person has 60 s to prove who they are, and no more', { timeout: waitLimit(90_000) }, async () => {
  const begun = performance.now()
  const privateKey = readFileSync(key)
  const slow = open({
    readyTimeout: 0,
    authHandler: (_left, _partial, next) =>
      void setTimeout(() => next({ type: 'publickey', username: 'ann-dev', key: privateKey }), 50_000),
  })
  const never = new ssh2.Client().on('error', () => undefined)
  never.connect({
    host: '127.0.0.1',
    port: rig.port,
    username: 'ann-dev',
    readyTimeout: 0,
    authHandler: () => undefined,
  })
  const ended = new Promise<number>((resolve) => never.once('close', () => resolve(performance.now() - begun)))
  ;(await slow).end()
  const took = await ended
  assert.ok(took > 58_000 && took < waitLimit(70_000), `${took} ms`)
})

test('a client that says nothing is cut off after 10 s', { timeout: waitLimit(30_000) }, async () => {
  const socket = connect(rig.port, '127.0.0.1')
  await once(socket, 'data')
  const begun = performance.now()
  await once(socket, 'close')
  const took = performance.now() - begun
  assert.ok(took > 8_000 && took < waitLimit(14_000), `${took} ms`)
})
