import path from 'node:path'
import type { Mount } from '#/engines/container-spec.ts'
import { bad, isRecord, ok, type Read } from './field-values.ts'

/** Folders of a container that its engine makes itself. */
const reserved = /^\/(proc|sys|dev)(\/|$)/
/** What the engine takes for the name of a volume. */
const volumeName = /^[a-zA-Z0-9][\w.-]{1,254}$/

/** The field `mounts`: a list of `{source: {volume: name} | {path: ...}, target, read_only}`. */
export function mountList(value: unknown): Read<readonly Mount[]> {
  if (!Array.isArray(value)) return bad('must be a list of {source, target, read_only}')
  const mounts: Mount[] = []
  for (const each of value as unknown[]) {
    const read = mount(each)
    if ('problem' in read) return read
    if (mounts.some(({ target }) => target === read.value.target))
      return bad(`has the target ${read.value.target} twice`)
    mounts.push(read.value)
  }
  return ok(mounts)
}

function mount(value: unknown): Read<Mount> {
  if (!isRecord(value)) return bad('must be a list of {source, target, read_only}')
  const { source, target, read_only: readOnly = true, ...others } = value
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return bad(`has the unknown key "${unknown}"; known: source, target, read_only`)
  if (typeof target !== 'string' || !isTarget(target))
    return bad('needs a target: an absolute path of a folder in the container, but none of /, /proc, /sys and /dev')
  if (typeof readOnly !== 'boolean') return bad(`for ${target}: read_only must be true or false`)
  const read = sourceOf(source)
  return 'problem' in read ? bad(`for ${target}: ${read.problem}`) : ok({ source: read.value, target, readOnly })
}

const isTarget = (target: string) =>
  path.posix.isAbsolute(target) &&
  path.posix.normalize(target) === target &&
  /^\/[^\0:]*[^\0:/]$/.test(target) &&
  !reserved.test(target)

function sourceOf(source: unknown): Read<Mount['source']> {
  const form = 'source must be {volume: name} or {path: /folder/of/the/host}'
  if (!isRecord(source) || Object.keys(source).length !== 1) return bad(form)
  const { volume, path: folder } = source
  if (typeof volume === 'string' && volumeName.test(volume)) return ok({ volume })
  return typeof folder === 'string' && path.posix.isAbsolute(folder) && !folder.includes('\0')
    ? ok({ path: folder })
    : bad(form)
}
