import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { packTar, type TarHeader } from 'modern-tar'
import type { FilesOrigin } from '#/templates/template.ts'
import { FileSources } from './file-sources.ts'
import { gitText } from './fetch-repository.ts'
import type { FileSet, SetLimits } from './file-set.ts'

/** Reading folders, archives and repositories, and what of them is refused. */

const never = new AbortController().signal

function arrange(t: TestContext, limits?: SetLimits) {
  const base = mkdtempSync(path.join(tmpdir(), 'berth-files-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const at = (...parts: string[]) => path.join(base, ...parts)
  for (const folder of ['root/course', 'outside']) mkdirSync(at(folder), { recursive: true })
  const write = (name: string, text: string | Buffer) => writeFileSync(at(name), text)
  const folder = at('cache')
  const sources = new FileSources({ folder, roots: [at('root')], ...(limits && { limits }) })
  const load = (origin: FilesOrigin) => sources.load(origin, performance.now() + 10_000, never)
  const words = async (origin: FilesOrigin) => {
    const set = await load(origin).catch((error: unknown) => String(error))
    return typeof set === 'string' ? set : listOf(set)
  }
  return { at, write, sources, load, words, folder }
}

async function listOf(set: FileSet): Promise<string[]> {
  const lines: string[] = []
  for (const entry of set.entries) {
    const parts: Uint8Array[] = []
    if (entry.kind === 'file') for await (const bytes of set.read(entry)) parts.push(bytes)
    const what = entry.kind === 'link' ? `-> ${entry.target}` : Buffer.concat(parts).toString().slice(0, 20)
    lines.push(`${entry.path} ${entry.mode.toString(8)} ${what}`.trim())
  }
  await set.release()
  return lines
}

const tar = (...entries: (Partial<TarHeader> & { name: string; text?: string })[]) =>
  packTar(
    entries.map(({ text = '', ...header }) => ({ header: { size: text.length, ...header } as TarHeader, body: text })),
  ).then((bytes) => Buffer.from(bytes))

/** A zip archive as PKWARE's APPNOTE has it. @param stated bytes that each entry says it has */
function zip(entries: readonly { name: string | Buffer; text: string; mode?: number; stated?: number }[]): Buffer {
  const [locals, central]: [Buffer[], Buffer[]] = [[], []]
  for (const { name, text, mode = 0o100644, stated = text.length } of entries) {
    const [named, packed] = [Buffer.from(name as string), deflateRawSync(text)]
    const offset = Buffer.concat(locals).length
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(stated, 18)
    common.writeUInt16LE(named.length, 22)
    locals.push(Buffer.from('PK\x03\x04'), common, named, packed)
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(mode * 65_536, 6)
    tail.writeUInt32LE(offset, 10)
    central.push(Buffer.from('PK\x01\x02\x14\x03'), common, tail, named)
  }
  const end = Buffer.alloc(18)
  end.writeUInt16LE(entries.length, 4)
  end.writeUInt16LE(entries.length, 6)
  end.writeUInt32LE(Buffer.concat(central).length, 8)
  end.writeUInt32LE(Buffer.concat(locals).length, 12)
  return Buffer.concat([...locals, ...central, Buffer.from('PK\x05\x06'), end])
}

test('files of the catalogue are of this release, whatever folders are allowed', async (t) => {
  const { words } = arrange(t)
  // A folder of an extension comes as the package that VS Code installs.
  assert.match(String(await words({ catalogue: 'code-server' })), /^berth-idle\.vsix 644 PK/)
  assert.match(
    String(await words({ catalogue: 'nothing' })),
    /the files nothing of the catalogue: this release does not have it$/,
  )
})

test('a folder is read with its subfolders; links are followed below the roots, and refused out of them', async (t) => {
  const { at, write, words } = arrange(t)
  mkdirSync(at('root/course/week1'))
  mkdirSync(at('root/common'))
  write('root/course/week1/task.md', 'add two numbers')
  write('root/course/run.sh', '#!/bin/sh')
  write('root/common/data.csv', '1;2')
  chmodSync(at('root/course/run.sh'), 0o4555)
  symlinkSync('../common', at('root/course/data'))
  const course = { path: at('root/course') }
  assert.deepEqual(await words(course), [
    'data 755',
    'data/data.csv 644 1;2',
    'run.sh 755 #!/bin/sh',
    'week1 755',
    'week1/task.md 644 add two numbers',
  ])
  write('root/course/week1/task.md', 'add three numbers')
  assert.match(String(await words(course)), /add three numbers/, 'a change counts at the next launch')

  write('outside/secret', 'not ours')
  symlinkSync(at('outside/secret'), at('root/course/leak'))
  assert.match(String(await words(course)), /course: leak is a link that leads out of ALLOWED_MOUNT_ROOTS$/)
  rmSync(at('root/course/leak'))
  symlinkSync('..', at('root/course/round'))
  assert.match(String(await words(course)), /round\/course is a link to a folder that it is in|more than/)
  assert.match(String(await words({ path: at('outside') })), /which is not below ALLOWED_MOUNT_ROOTS/)
})

test('archives are read by their kind, with links that stay inside', async (t) => {
  const { at, write, words } = arrange(t)
  const archive = await tar(
    { name: './week1/', type: 'directory', mode: 0o700 },
    { name: './week1/task.md', text: 'add two numbers' },
    { name: 'newest', type: 'symlink', linkname: 'week1/task.md' },
    { name: 'week1/same.md', type: 'link', linkname: './week1/task.md' },
    { name: `${'long-'.repeat(40)}name`, text: 'x' },
  )
  write('root/a.tar', archive)
  write('root/a.tar.gz', gzipSync(archive))
  const read = [
    `${'long-'.repeat(40)}name 644 x`,
    'newest 777 -> week1/task.md',
    'week1 700',
    'week1/same.md 644 add two numbers',
    'week1/task.md 644 add two numbers',
  ]
  assert.deepEqual(await words({ archive: at('root/a.tar') }), read)
  assert.deepEqual(await words({ archive: at('root/a.tar.gz') }), read)
  const files = [
    { name: 'week1/', text: '', mode: 0o040755 },
    { name: 'week1/run', text: 'x', mode: 0o100755 },
    { name: 'newest', text: 'week1/run', mode: 0o120777 },
  ]
  write('root/a.zip', zip(files))
  assert.deepEqual(await words({ archive: at('root/a.zip') }), [
    'newest 777 -> week1/run',
    'week1 755',
    'week1/run 755 x',
  ])
})

test('names of a zip archive in UTF-8 are read as such although no flag says so, as zip on Linux writes them; others by code page 437', async (t) => {
  const { at, write, words } = arrange(t)
  write(
    'root/a.zip',
    zip([
      { name: 'größe.txt', text: 'x' },
      { name: Buffer.from('gr\x94\xe1e.md', 'latin1'), text: 'x' },
    ]),
  )
  assert.deepEqual(await words({ archive: at('root/a.zip') }), ['größe.md 644 x', 'größe.txt 644 x'])
})

test('an archive whose entries would leave their folder, or are no files, is refused with the entry', async (t) => {
  const { at, write, words } = arrange(t)
  const hostile: [Parameters<typeof tar>, RegExp][] = [
    [[{ name: '../out', text: 'x' }], /"\.\.\/out" leads out of its folder$/],
    [[{ name: 'a/../../out', text: 'x' }], /leads out of its folder$/],
    [[{ name: '/etc/cron.d/x', text: 'x' }], /"\/etc\/cron\.d\/x" is absolute$/],
    [[{ name: 'a', type: 'symlink', linkname: '/etc' }], /"a" is a link that leads out of its folder \(to \/etc\)$/],
    [[{ name: 'a', type: 'symlink', linkname: '../x' }], /is a link that leads out/],
    [[{ name: 'b/a', type: 'symlink', linkname: 'c/../../../x' }], /is a link that leads out/],
    [[{ name: 'a', type: 'link', linkname: '../../etc/passwd' }], /leads out of its folder$/],
    [[{ name: 'a', type: 'link', linkname: 'none' }], /is a link to no file$/],
    [[{ name: 'a', type: 'character-device' }], /"a" is neither a file nor a folder \(character-device\)$/],
    [[{ name: 'a', type: 'fifo' }], /is neither a file nor a folder \(fifo\)$/],
    [[{ name: 'a', type: 'symlink', linkname: 'b' }, { name: 'a/x', text: 'x' }], /"a\/x" is below one that is no folder$/],
    [[{ name: 'a'.repeat(300), text: 'x' }], /longer than a file system takes$/],
  ] // prettier-ignore
  for (const [entries, problem] of hostile) {
    write('root/x.tar', await tar(...entries))
    assert.match(String(await words({ archive: at('root/x.tar') })), problem)
  }
  for (const [name, mode, problem] of [
    ['../out', 0o100644, /invalid relative path/],
    ['/out', 0o100644, /absolute path/],
    ['a\\..\\..\\out', 0o100644, /invalid relative path/],
    ['link', 0o120777, /is a link that leads out of its folder \(to \/etc\/passwd\)$/],
    ['device', 0o020644, /is neither a file nor a folder$/],
  ] as const) {
    write('root/x.zip', zip([{ name, mode, text: '/etc/passwd' }]))
    assert.match(String(await words({ archive: at('root/x.zip') })), problem)
  }
})

test('an archive that is damaged, cut off, or larger than the limit is refused, and leaves nothing on the disk', async (t) => {
  const { at, write, words, folder } = arrange(t, { entries: 5, bytes: 1_000_000 })
  const bomb = gzipSync(await tar({ name: 'zeros', text: '0'.repeat(1_000_001) }))
  assert.ok(bomb.length < 10_000)
  write('root/bomb.tar.gz', bomb)
  assert.match(String(await words({ archive: at('root/bomb.tar.gz') })), /it has more than 1000000 bytes in all$/)
  write('root/bomb.zip', zip([{ name: 'zeros', text: '0'.repeat(1_000_001) }]))
  assert.match(String(await words({ archive: at('root/bomb.zip') })), /it has more than 1000000 bytes in all$/)
  write('root/lie.zip', zip([{ name: 'zeros', text: '0'.repeat(900_000), stated: 10 }]))
  assert.match(String(await words({ archive: at('root/lie.zip') })), /too many bytes in the stream/)
  write('root/many.tar', await tar(...Array.from({ length: 6 }, (_, index) => ({ name: `f${index}` }))))
  assert.match(String(await words({ archive: at('root/many.tar') })), /it has more than 5 entries$/)
  const whole = await tar({ name: 'a', text: 'x'.repeat(5_000) })
  write('root/cut.tar', whole.subarray(0, 3_000))
  write('root/cut.tgz', gzipSync(whole).subarray(0, 60))
  write('root/text.zip', 'no archive')
  for (const name of ['cut.tar', 'cut.tgz', 'text.zip'])
    assert.match(String(await words({ archive: at('root', name) })), /it cannot be read: /, name)
  assert.deepEqual(readdirSync(folder), [])
})

// Repositories of a killed process stayed for ever.
test('copies and repositories that a killed process left are removed', async (t) => {
  const { at, words, folder, write } = arrange(t)
  for (const name of ['old.git', 'young.git']) mkdirSync(path.join(folder, name, 'objects'), { recursive: true })
  for (const name of ['old', 'young']) write(`cache/${name}`, 'x')
  for (const name of ['old', 'old.git']) utimesSync(path.join(folder, name), 1, 1)
  assert.deepEqual(await words({ path: at('root/course') }), [])
  assert.deepEqual(readdirSync(folder), ['young', 'young.git'])
})

/** A bare repository with a branch and a tag. */
function repository(at: (...parts: string[]) => string) {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@x.org', ...args], {
      cwd: at('work'),
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  mkdirSync(at('work'))
  git('init', '--quiet', '--initial-branch=main')
  const commit = (name: string, text: string) => {
    writeFileSync(at('work', name), text)
    git('add', '-A')
    git('commit', '--quiet', '-m', name)
    git('push', '--quiet', '--force', at('course.git'), 'HEAD:main')
    return git('rev-parse', 'HEAD')
  }
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', at('course.git')])
  return { git, commit, url: `file://${at('course.git')}` }
}

test('a repository is read at its branch, a tag or a commit, without running anything of it', async (t) => {
  const { at, words } = arrange(t)
  const { git, commit, url } = repository(at)
  writeFileSync(at('work/.gitattributes'), 'hidden.md export-ignore\n*.md filter=evil\n')
  const first = commit('hidden.md', 'one')
  git('tag', '-a', 'v1', '-m', 'v1')
  git('push', '--quiet', at('course.git'), 'v1')
  symlinkSync('hidden.md', at('work/newest'))
  commit('task.md', 'two')
  const names = async (ref: string | null) => (await words({ git: url, ref })).toString()
  assert.match(await names(null), /hidden\.md 644 one,newest 777 -> hidden\.md,task\.md 644 two$/)
  assert.doesNotMatch(await names('v1'), /task/)
  assert.doesNotMatch(await names(first), /task/)
  commit('task.md', 'three')
  assert.match(await names('main'), /task\.md 644 three/, 'a new commit counts at the next launch')
  assert.match(await names('none'), /the repository file:.*: git fetch failed: .*couldn't find remote ref none/)
  symlinkSync('/etc/passwd', at('work/leak'))
  commit('more', '')
  assert.match(await names(null), /"leak" is a link that leads out of its folder/)
})

// A person with links to repositories that were refused after their fetch filled the disk of the store, up to 1 GiB for each.
test('of a repository of a link nothing is left, also when reading it is refused or cancelled', async (t) => {
  const { at, sources, words, folder } = arrange(t)
  const { commit, url } = repository(at)
  const origin = { git: url, ref: null, isAnonymous: true } as const
  writeFileSync(at('work/large'), randomBytes(2_000_000))
  commit('task.md', 'two')
  const controller = new AbortController()
  const cancelled = sources.load(origin, performance.now(), controller.signal)
  // Its fetch is over when there is a file for the content.
  while (openContents(folder) === 0) await new Promise(setImmediate)
  assert.equal(readdirSync(folder).filter((name) => name.endsWith('.git')).length, 1)
  controller.abort(new Error('the person left'))
  await assert.rejects(cancelled, /the person left/)
  const limit = AbortSignal.timeout(20_000)
  while (readdirSync(folder).length > 0) {
    limit.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }

  rmSync(at('work/large'))
  symlinkSync('/etc/passwd', at('work/leak'))
  commit('task.md', 'three')
  assert.match(String(await words(origin)), /leads out of its folder/)
  assert.deepEqual(readdirSync(folder), [])
})

// Each link that was opened kept up to 1 GiB, and put the files of the operator's templates out of what is kept for the next launch.
test('files of a link are shared while they are used, and take no disk afterwards', async (t) => {
  const { at, sources, load, words, folder } = arrange(t)
  const { commit, url } = repository(at)
  commit('task.md', 'two')
  const origin = { git: url, ref: null, isAnonymous: true } as const
  const requestedAt = performance.now()
  // The fetch of a link comes before the container stands still, and what is put into it is taken from there.
  const [one, other] = await Promise.all([1, 2].map(() => sources.load(origin, requestedAt, never)))
  const third = await sources.load(origin, requestedAt, never)
  assert.deepEqual([other, third], [one, one])
  for (const set of [one, other]) await set?.release()
  assert.deepEqual(await listOf(third), ['task.md 644 two'])
  assert.equal(openContents(folder), 0)
  // It is not taken from what was released.
  assert.deepEqual(await listOf(await sources.load(origin, requestedAt, never)), ['task.md 644 two'])

  const controller = new AbortController()
  const cancelled = sources.load(origin, performance.now() + 10_000, controller.signal)
  while (openContents(folder) === 0) await new Promise(setImmediate)
  controller.abort(new Error('the person left'))
  await assert.rejects(cancelled, /the person left/)
  assert.deepEqual(await words(origin), ['task.md 644 two'])
  assert.equal(openContents(folder), 0)
  await (await load({ git: url, ref: null })).release()
  assert.equal(openContents(folder), 1, 'what a template names is kept')
  await sources.close()
})

/** How many files this process has open for content of starter files; they have no names. */
const openContents = (folder: string) =>
  readdirSync('/proc/self/fd').filter((fd) => /^\/[\w-]+ \(deleted\)$/.test(linkOf(fd).replace(folder, ''))).length

/** What a file descriptor of this process is open on. */
function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return ''
  }
}

test('a hundred launches at once fetch a repository once, and the last that gives up ends the fetch', async (t) => {
  const { at, sources, folder } = arrange(t)
  const { commit, url } = repository(at)
  commit('task.md', 'two')
  const origin = { git: url, ref: null }
  const sets = await Promise.all(Array.from({ length: 100 }, () => sources.load(origin, performance.now(), never)))
  assert.equal(new Set(sets).size, 1)
  const [repositoryFolder = ''] = readdirSync(folder)
  const packs = readdirSync(path.join(folder, repositoryFolder, 'objects/pack')).filter((name) =>
    name.endsWith('.pack'),
  )
  assert.equal(packs.length, 1)
  await Promise.all(sets.map((set) => set.release()))

  const [one, other] = [new AbortController(), new AbortController()]
  const later = performance.now() + 10_000
  const loads = [one, other].map(({ signal }) => sources.load(origin, later, signal))
  one.abort(new Error('the first person left'))
  await assert.rejects(loads[0] as Promise<FileSet>, /the first person left/)
  assert.deepEqual(await listOf(await (loads[1] as Promise<FileSet>)), ['task.md 644 two'])
  const last = sources.load(origin, later + 10_000, other.signal)
  other.abort(new Error('the last person left'))
  await assert.rejects(last, /the last person left/)
  // A fetch that was killed leaves nothing that would keep the next from fetching.
  assert.deepEqual(await listOf(await sources.load(origin, later + 20_000, never)), ['task.md 644 two'])
})

test('a fetch that takes too long or too much is ended', async (t) => {
  const { at } = arrange(t)
  const { commit, url } = repository(at)
  writeFileSync(at('work/large'), Buffer.from(Array.from({ length: 300_000 }, () => Math.floor(Math.random() * 256))))
  commit('task.md', 'two')
  const options = { folder: at('small'), roots: [], limits: { entries: 10, bytes: 50_000 } }
  const origin = { git: url, ref: null }
  await assert.rejects(new FileSources(options).load(origin, 0, never), /git fetch failed/)
  const hurried = new FileSources({ ...options, folder: at('quick'), timeout: 1 })
  await assert.rejects(hurried.load(origin, 0, never), /it took more than 1 ms/)
})

/** Who may push to the repository of a course is not the operator. Git took 20 MB of memory more each second, for minutes. */
test('a repository of a few kilobytes that stands for ten thousand million files is refused, in bounded memory', async (t) => {
  const { at, words } = arrange(t)
  const { git, url } = repository(at)
  const ten = (line: (index: number) => string) => Array.from({ length: 10 }, (_, index) => line(index)).join('\n')
  const make = (lines: string) =>
    execFileSync('git', ['mktree'], { cwd: at('work'), encoding: 'utf8', input: lines }).trim()
  writeFileSync(at('work/task.md'), 'two')
  const file = git('hash-object', '-w', 'task.md')
  const [empty, filled] = [make(''), make(ten((index) => `100644 blob ${file}\tfile${index}`))]
  for (const [name, leaf] of Object.entries({ filled, empty })) {
    let tree = leaf
    for (let depth = 0; depth < 9; depth++) {
      const below = tree
      tree = make(ten((index) => `040000 tree ${below}\tfolder${index}`))
    }
    git('push', '--quiet', at('course.git'), `${git('commit-tree', '-m', name, tree)}:refs/heads/${name}`)
    assert.match(String(await words({ git: url, ref: name })), /it has more than 10000 entries/, name)
  }
  const limit = await gitText(['-c', 'alias.limit=!ulimit -v', 'limit'], { signal: never, maxBytes: 1_000 })
  assert.equal(limit, String(4 * 1024 ** 2), 'KiB of memory of what Git starts')
})

/** A server whose certificate is good asked, through Git, what listens on the loopback of the machine that Berth runs on. */
test('a server that redirects leads Git nowhere, and the refusal says so', async (t) => {
  const { words } = arrange(t)
  const listen = async (answer: RequestListener) => {
    const server = createServer(answer).listen(0, '127.0.0.1')
    t.after(() => void server.close())
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const asked: string[] = []
  const inner = await listen((request, response) => {
    asked.push(`inner ${request.url}`)
    response.writeHead(404).end()
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const outer = await listen((request, response) => {
      asked.push(`outer ${request.url}`)
      response.writeHead(status, { location: `${inner}${request.url}` }).end()
    })
    assert.match(String(await words({ git: `${outer}/course.git`, ref: null })), /redirects, which is not followed/)
  }
  assert.deepEqual(new Set(asked), new Set(['outer /course.git/info/refs?service=git-upload-pack']))
})
