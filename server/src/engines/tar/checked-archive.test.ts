import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync, linkSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { packTar, unpackTar, type TarEntry, type TarHeader } from 'modern-tar'
import { paxRecord, rawEntry, tarEnd } from '#test/support/homes/raw-tar.ts'
import { BadArchive, SizeLimitExceeded, checkedArchive } from './checked-archive.ts'

/** Archives that users send: what is taken comes out plain, and what is hostile is refused before anything is unpacked. */
const limits = { maxBytes: 1024 ** 2, maxEntries: 1_000 }

async function* inPieces(bytes: Uint8Array, size = 700) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function checked(bytes: Uint8Array, given = limits): Promise<TarHeader[]> {
  const result = await buffer(checkedArchive(inPieces(bytes), given))
  return (await unpackTar(result)).map(({ header }) => header)
}

const file = (name: string, more: Partial<TarHeader> = {}): TarEntry => ({
  header: { name, size: 1, type: 'file', ...more },
  body: 'x',
})
const other = (name: string, type: NonNullable<TarHeader['type']>, linkname?: string): TarEntry => ({
  header: { name, size: 0, type, ...(linkname === undefined ? {} : { linkname }) },
})
const refused = async (entries: TarEntry[], key: string, given = limits) =>
  assert.rejects(
    async () => checked(await packTar(entries), given),
    (error) => error instanceof BadArchive && error.sentence.key === `snapshots.${key}`,
    JSON.stringify(entries.map(({ header }) => header)),
  )

test('names that lead out of the top are refused: absolute, with "..", with NUL, or longer than a file system takes', async () => {
  for (const name of ['/etc/passwd', '../x', 'a/../../x', 'a/..', '..'])
    await refused([file('fine'), file(name)], 'badName')
  await refused([file(`a/${'x'.repeat(256)}`)], 'badName')
  await refused([file('x/'.repeat(2_100) + 'x')], 'badName')
})

test('nothing is written through a symbolic link, in whatever order it comes', async () => {
  const link = other('a', 'symlink', '/etc')
  await refused([link, file('a/passwd')], 'badName')
  await refused([link, other('a/sub/', 'directory')], 'badName')
  await refused([link, other('a/', 'directory')], 'badName')
  await refused([other('a/', 'directory'), link], 'fileAndFolder')
  await refused([file('a/b'), link], 'fileAndFolder')
  await refused([link, other('b', 'link', 'a/passwd')], 'badName')
  await refused([link, other('b', 'link', 'a'), file('b/passwd')], 'badName')
  await refused([link, other('b', 'link', 'a'), other('c', 'link', 'b/passwd')], 'badName')
})

test('hard links lead to entries of the archive alone', async () => {
  for (const target of ['/etc/passwd', '../x', '', '.']) await refused([other('a', 'link', target)], 'badName')
})

test('devices, pipes, owners, attributes and special mode bits are left out', async () => {
  const hostile = { mode: 0o7777, uid: 0, gid: 0, uname: 'root', pax: { 'SCHILY.xattr.security.capability': 'x' } }
  const headers = await checked(
    await packTar([
      other('null', 'character-device'),
      other('disk', 'block-device'),
      other('pipe', 'fifo'),
      file('tool', hostile),
    ]),
  )
  assert.deepEqual(
    headers.map(({ name }) => name),
    ['./', 'tool'],
  )
  const [, tool] = headers
  assert.deepEqual([tool?.mode, tool?.uid ?? 0, tool?.uname ?? '', tool?.pax ?? {}], [0o777, 0, '', {}])
})

test('folders come before what is in them, also those without an entry', async () => {
  const headers = await checked(await packTar([file('a/b/c'), file('a/d'), other('a/b/', 'directory')]))
  assert.deepEqual(
    headers.map(({ name }) => name),
    ['./', 'a/', 'a/b/', 'a/b/c', 'a/d', 'a/b/'],
  )
})

test('bombs end early: many entries, many names, much content, and content that is only large when unpacked', async () => {
  const many = Array.from({ length: 1_001 }, (_, at) => file(`f${at}`))
  await refused(many, 'tooManyFiles')
  const deep = Array.from({ length: 20 }, (_, at) => file(`${at}/${'d/'.repeat(1_900)}x`))
  await refused(deep, 'tooManyFolders', { ...limits, maxBytes: 1024 ** 3 })
  const bomb = gzipSync(await packTar([{ header: { name: 'x', size: 40e6, type: 'file' }, body: Buffer.alloc(40e6) }]))
  assert.ok(bomb.length < 100_000)
  await assert.rejects(checked(bomb), SizeLimitExceeded)
})

test('several gzip members are one archive, whose limits hold for all of them together', async () => {
  const tar = Buffer.from(await packTar([file('a'), file('b')]))
  const members = Buffer.concat([gzipSync(tar.subarray(0, 700)), gzipSync(''), gzipSync(tar.subarray(700))])
  assert.deepEqual(
    (await checked(members)).map(({ name }) => name),
    ['./', 'a', 'b'],
  )
  const large = Buffer.from(
    await packTar([{ header: { name: 'x', size: 900_000, type: 'file' }, body: Buffer.alloc(900_000) }]),
  )
  const bomb = [large.subarray(0, -1024), large].map((part) => gzipSync(part))
  await assert.rejects(checked(Buffer.concat(bomb)), SizeLimitExceeded)
})

test('a sender whose bytes unpack to nothing is stopped, too: empty gzip members, and a gzip header without end', async () => {
  const empty = gzipSync('')
  const header = Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0])
  for (const [begin, part] of [
    [empty, Buffer.concat(Array.from({ length: 100 }, () => empty))],
    [header, Buffer.alloc(1_000, 'x')],
  ] as const) {
    let sent = 0
    const endless = async function* () {
      yield begin
      for (; sent < 20e6; sent += part.length) yield part
    }
    await assert.rejects(buffer(checkedArchive(endless(), limits)), SizeLimitExceeded)
    assert.ok(sent < 2e6, String(sent))
  }
})

test('names that lead elsewhere are refused however they are told: by GNU headers, by POSIX records, in the prefix', async () => {
  for (const name of ['../x', '/x', 'a/../../x', `${'x'.repeat(300)}`, 'a\0b']) {
    const entry = rawEntry({ body: 'x' })
    const posix = Buffer.concat([rawEntry({ type: 'x', body: paxRecord('path', name) }), entry, tarEnd])
    await assert.rejects(checked(posix), BadArchive, name)
    const gnu = Buffer.concat([rawEntry({ type: 'L', body: `${name}\0` }), entry, tarEnd])
    // There a NUL is the end of the name.
    if (name.includes('\0')) assert.equal((await checked(gnu)).at(-1)?.name, 'a')
    else await assert.rejects(checked(gnu), BadArchive, name)
    const link = rawEntry({ type: '1', linkname: 'a' })
    const target = Buffer.concat([rawEntry({ type: 'x', body: paxRecord('linkpath', name) }), link, tarEnd])
    await assert.rejects(checked(target), BadArchive, name)
  }
  const global = Buffer.concat([
    rawEntry({ type: 'g', body: paxRecord('path', '../x') }),
    rawEntry({ body: 'x' }),
    tarEnd,
  ])
  await assert.rejects(checked(global), BadArchive)
})

test('a size that is said and does not come, and headers that never end, are refused', async () => {
  const whole = Buffer.from(await packTar([file('x', { size: 1 })]))
  const lying = Buffer.from(whole)
  lying.write('77777777777', 124, 'latin1')
  await assert.rejects(checked(lying), BadArchive)
  await assert.rejects(checked(whole.subarray(0, 700)), BadArchive)
  const [pax] = [Buffer.from(await packTar([file('ä'.repeat(60))])).subarray(0, 1024)]
  await assert.rejects(checked(Buffer.concat(Array.from({ length: 1_100 }, () => pax))), SizeLimitExceeded)
})

test('what is no archive is refused', async () => {
  for (const bytes of [Buffer.from(''), Buffer.from('x'), Buffer.from('PK\x03\x04'.repeat(500)), Buffer.alloc(1024)])
    await assert.rejects(checked(bytes), BadArchive, bytes.toString('latin1', 0, 8))
  await assert.rejects(checked(gzipSync('x').subarray(0, 12)), BadArchive)
})

test('a sender that goes away is no bad archive', async () => {
  const gone = async function* () {
    yield Buffer.alloc(10)
    throw new Error('gone')
  }
  await assert.rejects(buffer(checkedArchive(gone(), limits)), /gone/)
})

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-upload-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test("archives of the machine's tar come whole, compressed or not; sparse ones are refused", async (t) => {
  const folder = folderOf(t)
  mkdirSync(path.join(folder, 'a/b'), { recursive: true })
  writeFileSync(path.join(folder, 'a/b/one'), 'one')
  writeFileSync(path.join(folder, `a/${'ä'.repeat(90)}`), 'two')
  chmodSync(path.join(folder, 'a/b/one'), 0o4640)
  linkSync(path.join(folder, 'a/b/one'), path.join(folder, 'same'))
  symlinkSync('../../../usr/bin/python3', path.join(folder, 'a/python'))
  for (const format of ['pax', 'gnu'])
    for (const compress of [[], ['-z']]) {
      const tar = execFileSync('tar', [`--format=${format}`, ...compress, '-C', folder, '-cf', '-', '.'])
      const found = new Map((await checked(tar)).map((header) => [header.name, header]))
      assert.equal(found.get('a/b/one')?.mode ?? found.get('same')?.mode, 0o640)
      assert.ok(found.has(`a/${'ä'.repeat(90)}`), format)
      assert.equal(found.get('a/python')?.linkname, '../../../usr/bin/python3')
    }
  const sparse = path.join(folder, 'sparse')
  writeFileSync(sparse, 'x')
  truncateSync(sparse, 5_000_000_000)
  for (const format of ['pax', 'gnu']) {
    const tar = execFileSync('tar', [`--format=${format}`, '--sparse', '-C', folder, '-cf', '-', 'sparse'])
    assert.ok(tar.length < 100_000)
    await assert.rejects(
      checked(tar),
      (error) => error instanceof BadArchive && error.sentence.key === 'snapshots.sparseArchive',
    )
  }
})
