import { readlinkSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { isBelow, walkPath } from '#/machine/allowed-paths.ts'
import { unusableMountOf } from '#/machine/mounts.ts'
import type { TemplateProblem } from './read-templates.ts'
import { commonFolder, mayBeBelow } from './personal-paths.ts'
import { mountsWithHome, type Template } from './template.ts'

/** A path that Berth or the engine opens by name, beside those of templates. */
export interface FollowedPath {
  /** The setting that names it. */
  readonly setting: string
  readonly path: string
  /** Whether it holds secrets of Berth, as the store does: then no mount may show it, also a read-only one. */
  readonly isPrivate: boolean
}

type Mounting = Pick<
  Template,
  'type' | 'mounts' | 'files' | 'secrets' | 'registryAuth' | 'devices' | 'home' | 'homeSource'
>

interface MountRoots {
  readonly secretsDir: string | null
  readonly mountRoots: readonly string[]
  readonly followed?: readonly FollowedPath[]
  /** Mount points that nothing is asked of, because they may not answer: what is in them counts as it is written. */
  readonly unusable?: ReadonlyMap<string, string>
}

interface MountedFolder {
  readonly type: string
  readonly target: string
  /** Without symbolic links. */
  readonly real: string
  readonly readOnly: boolean
}

/** A path that is opened by name later, and why. */
interface Followed {
  /** Subject of a sentence: `mounts /data names /srv/shared/data`. */
  readonly words: string
  /** Undefined: it is no template's, so that the first template that mounts too much is named. */
  readonly type?: string
  readonly path: string
  /** Whether all that is in it is read, following links: then no part of it may be writable to containers. */
  readonly isReadWhole?: boolean
}

/**
 * Paths that containers could replace by a symbolic link between their check and their use (time of check, time of use): what lies below
 * a folder that any template mounts writable, although it is a mount itself, or Berth opens it. Also mounts that show the folders of
 * Berth itself. One problem at most for each path. It looks at the file system synchronously.
 * @returns each with a sentence that begins with the type, and ends with the way out
 */
export function replaceablePaths(templates: readonly Mounting[], roots: MountRoots): TemplateProblem[] {
  const mounted = mountedFolders(templates, roots)
  const writable = mounted.filter(({ readOnly }) => !readOnly)
  const shown = (roots.followed ?? []).filter(({ isPrivate }) => isPrivate)
  return [
    ...(writable.length === 0
      ? []
      : followedOf(templates, roots).flatMap((each) => replaceableBy(writable, each, placesOf(roots)))),
    ...(shown.length === 0 ? [] : showing(mounted, templates, roots, shown)),
  ]
}

function replaceableBy(
  writable: readonly MountedFolder[],
  followed: Followed,
  unusable: readonly string[],
): TemplateProblem[] {
  const entries = entriesOf(followed.path, unusable)
  const end = entries.at(-1) ?? '/'
  const above = writable.find(({ real }) => entries.some((entry) => mayBeBelow(entry, real, true)))
  const within = followed.isReadWhole ? writable.find(({ real }) => mayBeBelow(real, end)) : undefined
  const mount = above ?? within
  if (!mount) return []
  const { type, target, real } = mount
  const where = above ? `which is below ${real}` : `in which ${real} is`
  const act = above
    ? 'put a link to any other path of the host in its place'
    : 'put a link into it, which would be followed'
  const problem =
    `${followed.type ?? type}: ${followed.words}, ${where}, and ${type} mounts ${real} writable at ${target}: ` +
    `a container of ${type} could ${act}. Mount ${real} with read_only: true in ${type}, or move one of the two out of the other`
  return [{ type: followed.type ?? type, problem }]
}

/** Mounts, and starter files, that have a private folder of Berth in them. */
function showing(
  mounted: readonly MountedFolder[],
  templates: readonly Mounting[],
  roots: MountRoots,
  shown: readonly FollowedPath[],
): TemplateProblem[] {
  const unusable = placesOf(roots)
  const sources = [
    ...mounted.map(({ type, target, real }) => ({ type, what: `mounts ${target}`, real })),
    ...templates.flatMap(({ type, files }) =>
      files.flatMap(({ from }) => {
        const real = 'path' in from ? realOf(absolute(from.path, roots.mountRoots[0]), unusable) : undefined
        return real === undefined ? [] : [{ type, what: 'files', real }]
      }),
    ),
  ]
  return sources.flatMap(({ type, what, real }) => {
    const found = shown.find(({ path: named }) => isBelow(entriesOf(named, unusable).at(-1) ?? '/', real))
    if (!found) return []
    const problem =
      `${type}: ${what} names ${real}, in which ${found.setting} (${found.path}) is: containers would read what Berth keeps there, ` +
      `its keys among it. Name a folder in which it is not`
    return [{ type, problem }]
  })
}

function mountedFolders(templates: readonly Mounting[], roots: MountRoots): MountedFolder[] {
  return templates.flatMap((template) =>
    mountsWithHome(template).flatMap(({ source, target, readOnly }) => {
      const { type } = template
      const real =
        'path' in source ? realPersonal(absolute(source.path, roots.mountRoots[0]), placesOf(roots)) : undefined
      return real === undefined ? [] : [{ type, target, real, readOnly }]
    }),
  )
}

/** Everything that is opened by name, as the operator wrote it. */
function followedOf(templates: readonly Mounting[], { secretsDir, mountRoots, followed = [] }: MountRoots): Followed[] {
  const inRoots = (given: string) => absolute(given, mountRoots[0])
  const ofTemplates = templates.flatMap((template): Followed[] => {
    const { type, files, secrets, registryAuth, devices } = template
    return [
      ...mountsWithHome(template).flatMap(({ source, target }) =>
        'path' in source ? [{ words: `mounts ${target} names ${source.path}`, path: inRoots(source.path) }] : [],
      ),
      ...files.flatMap(({ from }) => {
        if ('git' in from) {
          const repository = fileOf(from.git)
          return repository === undefined
            ? []
            : [{ words: `files names ${from.git}`, path: repository, isReadWhole: true }]
        }
        if ('catalogue' in from) return []
        const named = 'path' in from ? from.path : from.archive
        return [{ words: `files names ${named}`, path: inRoots(named), isReadWhole: 'path' in from }]
      }),
      ...[
        ...Object.entries(secrets),
        ...(registryAuth ? [['registry_auth', registryAuth.passwordFile] as const] : []),
      ].map(([name, file]) => ({
        words: `${name === 'registry_auth' ? name : `secrets ${name}`} names ${file}`,
        path: absolute(file, secretsDir ?? undefined),
      })),
      ...devices.map(({ onHost }) => ({ words: `devices names ${onHost}`, path: onHost })),
    ].map((each) => ({ ...each, type }))
  })
  return [
    ...ofTemplates,
    ...mountRoots.map((root) => ({ words: `ALLOWED_MOUNT_ROOTS has ${root}`, path: root })),
    ...followed.map(({ setting, path: named, isPrivate }) => ({
      words: `${setting} is ${named}`,
      path: path.resolve(named),
      isReadWhole: isPrivate,
    })),
  ]
}

/** The folder of a repository of this machine; undefined for one elsewhere. */
function fileOf(repository: string): string | undefined {
  const url = URL.parse(repository)
  return url?.protocol === 'file:' ? decodeURIComponent(url.pathname) : undefined
}

const absolute = (given: string, base: string | undefined) => path.resolve(base ?? '/', given)

/**
 * Entries of folders that the resolution of a path passes, its links' own among them, in order: a program that may replace one of
 * them decides where the path leads. The last one is where it leads.
 */
function entriesOf(absolutePath: string, unusable: readonly string[]): string[] {
  const entries: string[] = []
  const walk = walkPath(absolutePath)
  let step = walk.next()
  for (; !step.done; step = walk.next(linkOf(step.value, unusable))) entries.push(step.value)
  if (entries.at(-1) !== step.value) entries.push(step.value)
  return entries
}

/** Undefined for what is no link, is not there, or is not looked at. */
function linkOf(entry: string, unusable: readonly string[]): string | undefined {
  if (unusable.some((place) => isBelow(entry, place))) return undefined
  try {
    return readlinkSync(entry)
  } catch {
    return undefined
  }
}

/** The part that is the same for all people without symbolic links, and the rest as it is written. */
function realPersonal(file: string, unusable: readonly string[]): string | undefined {
  const common = commonFolder(file)
  const real = realOf(common, unusable)
  return real === undefined ? undefined : path.join(real, file.slice(common.length))
}

const placesOf = ({ unusable }: MountRoots) => [...(unusable?.keys() ?? [])]

function realOf(file: string, unusable: readonly string[]): string | undefined {
  if (unusableMountOf(file, unusable) !== undefined) return entriesOf(file, unusable).at(-1)
  try {
    return realpathSync(file)
  } catch {
    return undefined
  }
}
