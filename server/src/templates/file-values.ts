import { bad, isRecord, ok, type Read } from './field-values.ts'
import { archiveNames, type FilesOrigin, type StarterFiles } from './starter-files.ts'

const form = 'must be a list of {from: {path | archive | git, ref}, to, update}'
const updates = ['never', 'missing', 'changed'] as const

/** The field `files`. */
export function starterFileList(value: unknown): Read<readonly StarterFiles[]> {
  if (!Array.isArray(value)) return bad(form)
  const all: StarterFiles[] = []
  for (const each of value as unknown[]) {
    const read = starterFiles(each)
    if ('problem' in read) return read
    all.push(read.value)
  }
  return ok(all)
}

function starterFiles(value: unknown): Read<StarterFiles> {
  if (!isRecord(value)) return bad(form)
  const { from, to = '', update = 'missing', ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: from, to, update`)
  const folder = typeof to === 'string' ? folderInHome(to) : undefined
  if (folder === undefined)
    return bad('needs a "to" that is a path relative to the home, e.g. course; it must not lead out of the home')
  const known = updates.find((each) => each === update)
  if (known === undefined) return bad('needs an "update" of never, missing or changed')
  const read = originOf(from)
  return 'problem' in read ? read : ok({ from: read.value, to: folder, update: known })
}

/** `.`, `./course/` and `course//week1` are common ways to write it. */
function folderInHome(to: string): string | undefined {
  if (to.startsWith('/') || to.includes('\0') || to.split('/').includes('..')) return undefined
  const parts = to.split('/').filter((part) => part !== '' && part !== '.')
  return parts.every((part) => Buffer.byteLength(part) <= 255) ? parts.join('/') : undefined
}

function originOf(value: unknown): Read<FilesOrigin> {
  const problem = bad('needs a "from" of {path: folder}, {archive: file} or {git: URL, ref}')
  if (!isRecord(value)) return problem
  const { path: folder, archive, git, ref = null, ...others } = value
  if (Object.keys(others).length > 0) return problem
  const given = [folder, archive, git].filter((each) => each !== undefined)
  if (given.length !== 1 || typeof given[0] !== 'string' || given[0].includes('\0')) return problem
  if (git !== undefined) return repository(given[0], ref)
  if (ref !== null) return bad('has a "ref", which only git has')
  if (given[0] === '') return problem
  if (folder !== undefined) return ok({ path: given[0] })
  return archiveNames.test(given[0])
    ? ok({ archive: given[0] })
    : bad(`has the archive ${given[0]}; names of archives end with .tar, .tar.gz or .zip`)
}

/** What Git takes for a name of a branch, tag or commit (git-check-ref-format), and no option of a command. */
const refName = /^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|\.lock$|[./]$))[^\s~^:?*[\\\p{Cc}]{1,255}$/u

function repository(git: string, ref: unknown): Read<FilesOrigin> {
  const url = URL.parse(git)
  if (!url || !['http:', 'https:', 'file:'].includes(url.protocol) || /[\s\p{Cc}]/u.test(git))
    return bad('needs a "git" that is a URL with http, https or file')
  // Templates are shown, copied and kept in repositories.
  if (url.username !== '' || url.password !== '')
    return bad('has a "git" with a user or a password in its URL; use a credential helper of Git')
  if (ref !== null && (typeof ref !== 'string' || !refName.test(ref)))
    return bad('needs a "ref" that is the name of a branch, a tag or a commit')
  return ok({ git, ref: ref as string | null })
}
