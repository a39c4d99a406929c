import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { StarterFilesError, type FileSetBuilder } from './file-set.ts'
import { addTar } from './read-archive.ts'

/** Fetches that are kept beside each other before the repository is made anew; each brings a pack of its own. */
const maxPacks = 20
const ref = 'refs/berth/files'
/**
 * `archive` would leave out, or change, what the attributes of a repository name, or give it to a filter that is configured on the
 * machine: that of Git LFS would ask a server for each file. Source: gitattributes(5).
 */
const attributes = '* -export-ignore -export-subst -filter -text !eol -ident !working-tree-encoding\n'

export interface Repository {
  readonly url: string
  /** Branch, tag or commit. */
  readonly ref: string | null
  /** Folder of this repository alone; it may be missing, and is removed after a failure. */
  readonly folder: string
}

/**
 * Fetches one commit, without history and submodules; nothing is checked out, and nothing of it runs.
 * @returns the commit @throws as `git`
 */
export async function fetchCommit({ url, ref: wanted, folder }: Repository, options: GitOptions): Promise<string> {
  try {
    if (await hasManyPacks(folder)) await rm(folder, { recursive: true, force: true })
    if (!existsSync(path.join(folder, 'HEAD'))) await initialize(folder, options)
    // Also into a folder that an earlier version has made.
    await mkdir(path.join(folder, 'info'), { recursive: true })
    await writeFile(path.join(folder, 'info/attributes'), attributes)
    const settings = ['gc.auto=0', 'maintenance.auto=false', 'fetch.unpackLimit=1', 'pack.threads=2'].flatMap((one) => [
      '-c',
      one,
    ])
    const how = ['--quiet', '--force', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head']
    const what = ['--', url, `+${wanted ?? 'HEAD'}:${ref}`]
    await gitText(['-C', folder, ...settings, 'fetch', ...how, ...what], options)
    return await gitText(['-C', folder, 'rev-parse', '--verify', `${ref}^{commit}`], options)
  } catch (error) {
    // What was killed leaves locks.
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function initialize(folder: string, options: GitOptions): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await gitText(['init', '--quiet', '--bare', '--template=', folder], options)
}

async function hasManyPacks(folder: string): Promise<boolean> {
  const names = await readdir(path.join(folder, 'objects/pack')).catch(() => [])
  return names.filter((name) => name.endsWith('.pack')).length > maxPacks
}

/**
 * Adds the files of a commit that was fetched.
 * @param maxEntries of the commit: more are refused before they are read
 * @throws as `git` and `addTar`
 */
export async function addCommit(
  builder: FileSetBuilder,
  { folder }: Repository,
  commit: string,
  { maxEntries, ...options }: GitOptions & { readonly maxEntries: number },
): Promise<void> {
  await refuseManyEntries(folder, commit, maxEntries, options)
  const archive = git(['-C', folder, '-c', 'tar.umask=0022', 'archive', '--format=tar', commit], options)
  await addTar(builder, archive, options.signal)
}

/**
 * `archive` has the whole tree in memory before its first byte, and a few kilobytes of trees that contain each other many
 * times stand for any number of entries. `ls-tree` writes each entry as it comes to it.
 */
async function refuseManyEntries(
  folder: string,
  commit: string,
  maxEntries: number,
  options: GitOptions,
): Promise<void> {
  let entries = 0
  for await (const bytes of git(['-C', folder, 'ls-tree', '-r', '-t', '-z', '--name-only', commit], options)) {
    for (const byte of bytes) if (byte === 0) entries++
    if (entries > maxEntries) throw new StarterFilesError(`it has more than ${maxEntries} entries`)
  }
}

/**
 * Runs the machine's Git with nothing of this process's environment but what it needs to reach a server, and nothing that
 * could ask a person. `ulimit` bounds each file that it writes, and its memory: Git itself has no limit for what it fetches,
 * and a few kilobytes of deltas or trees can stand for any number of bytes.
 */
const gitScript = `ulimit -f "$1" && ulimit -v "$2" && home="\${3:-$HOME}" && shift 3 && exec env -i PATH="$PATH" HOME="$home" LANG=C GIT_TERMINAL_PROMPT=0 \
GIT_ASKPASS=false GIT_ALLOW_PROTOCOL=http:https:file \${https_proxy:+https_proxy="$https_proxy"} \
\${http_proxy:+http_proxy="$http_proxy"} \${no_proxy:+no_proxy="$no_proxy"} \
\${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} git "$@"`

/**
 * A server of course material must not lead Git to an address that this machine reaches and the server does not, such as the
 * loopback or a cloud's metadata: Git follows a redirect of its first request otherwise.
 */
const gitSettings = ['-c', 'http.followRedirects=false']
const withoutAccounts = ['-c', 'credential.helper=', '-c', 'http.extraHeader=', '-c', 'http.cookieFile=']
/** No folder, so that there are neither settings nor a `.netrc`. */
const noHome = '/nonexistent'
const redirected = /The requested URL returned error: 30\d/
const redirectAdvice = ' (the server redirects, which is not followed: write the address that it leads to)'

const maxErrorText = 2_000
const ulimitBlock = 512
/** Address space of each process, in KiB: 1 GiB of a pack, a file of 512 MiB (larger ones are streamed), and its threads. */
const maxMemory = String(4 * 1024 * 1024)

interface GitOptions {
  readonly signal: AbortSignal
  /** Max bytes of each file that it writes. Its memory has a limit of its own. */
  readonly maxBytes: number
  /** Without the settings and accounts of the account that Berth runs as: a link must not fetch what an operator may. */
  readonly isAnonymous?: boolean
}

/**
 * Output of a Git command as it comes; it and what it started are killed when the signal aborts, or the output is left.
 * @throws {StarterFilesError} with Git's words when it fails; the signal's reason
 */
async function* git(
  args: readonly string[],
  { signal, maxBytes, isAnonymous = false }: GitOptions,
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  const blocks = String(Math.ceil(maxBytes / ulimitBlock))
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      gitScript,
      'sh',
      blocks,
      maxMemory,
      isAnonymous ? noHome : '',
      ...gitSettings,
      ...(isAnonymous ? withoutAccounts : []),
      ...args,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  )
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  ended.catch(() => undefined)
  // The whole group: a transport of Git is a program of its own.
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The process has ended.
    }
  }
  signal.addEventListener('abort', kill, { once: true })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-maxErrorText)))
  try {
    yield* child.stdout as AsyncIterable<Buffer>
    const code = await ended
    signal.throwIfAborted()
    const advice = redirected.test(errors) ? redirectAdvice : ''
    if (code !== 0)
      throw new StarterFilesError(`git ${args.find(isVerb) ?? ''} failed: ${errors.trim() || code}${advice}`)
  } finally {
    kill()
    signal.removeEventListener('abort', kill)
  }
}

const gitVerbs = ['init', 'fetch', 'rev-parse', 'ls-tree', 'archive']
const isVerb = (word: string) => gitVerbs.includes(word)

/** Runs `git` with its output as one text without white space at its ends. */
export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  let text = ''
  for await (const bytes of git(args, options)) text += Buffer.from(bytes).toString()
  return text.trim()
}
