import { spawn } from 'node:child_process'
import { StarterFilesError } from './starter-files-error.ts'

/**
 * Runs the machine's Git with nothing of this process's environment but what it needs to reach a server, and nothing that
 * could ask a person. `ulimit` bounds each file that it writes, and its memory: Git itself has no limit for what it fetches,
 * and a few kilobytes of deltas or trees can stand for any number of bytes.
 */
const script = `ulimit -f "$1" && ulimit -v "$2" && shift 2 && exec env -i PATH="$PATH" HOME="$HOME" LANG=C GIT_TERMINAL_PROMPT=0 \
GIT_ASKPASS=false GIT_ALLOW_PROTOCOL=http:https:file \${https_proxy:+https_proxy="$https_proxy"} \
\${http_proxy:+http_proxy="$http_proxy"} \${no_proxy:+no_proxy="$no_proxy"} \
\${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} git "$@"`

/**
 * A server of course material must not lead Git to an address that this machine reaches and the server does not, such as the
 * loopback or a cloud's metadata: Git follows a redirect of its first request otherwise.
 */
const settings = ['-c', 'http.followRedirects=false']
const redirected = /The requested URL returned error: 30\d/
const redirectAdvice = ' (the server redirects, which is not followed: write the address that it leads to)'

const maxErrorText = 2_000
const ulimitBlock = 512
/** Address space of each process, in KiB: 1 GiB of a pack, a file of 512 MiB (larger ones are streamed), and its threads. */
const maxMemory = String(4 * 1024 * 1024)

export interface GitOptions {
  readonly signal: AbortSignal
  /** Max bytes of each file that it writes. Its memory has a limit of its own. */
  readonly maxBytes: number
}

/**
 * Output of a Git command as it comes; it and what it started are killed when the signal aborts, or the output is left.
 * @throws {StarterFilesError} with Git's words when it fails; the signal's reason
 */
export async function* git(args: readonly string[], { signal, maxBytes }: GitOptions): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  const blocks = String(Math.ceil(maxBytes / ulimitBlock))
  const child = spawn('/bin/sh', ['-c', script, 'sh', blocks, maxMemory, ...settings, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
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
      // It has ended.
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

const verbs = ['init', 'fetch', 'rev-parse', 'ls-tree', 'archive']
const isVerb = (word: string) => verbs.includes(word)

/** As `git`, with its output as one text without white space at its ends. */
export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  let text = ''
  for await (const bytes of git(args, options)) text += Buffer.from(bytes).toString()
  return text.trim()
}
