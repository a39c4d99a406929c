import { readFileSync, statSync } from 'node:fs'
import { chown, mkdir, rmdir } from 'node:fs/promises'
import path from 'node:path'
import type { Mount, MountedVolume } from '#/engines/container-spec.ts'
import { FolderUnusable, RuntimeError } from '#/engines/runtime-error.ts'
import type { RegistryCredentials } from '#/engines/runtime.ts'
import { allowedPath, type AllowedPath } from '#/machine/allowed-paths.ts'
import { answeringPaths, type AnsweringPaths } from '#/machine/answering-paths.ts'
import { unusableMountOf } from '#/machine/mounts.ts'
import { catalogueFiles } from './catalogue-folder.ts'
import type { FollowedPath } from './replaceable-paths.ts'
import { commonFolder, personalPath, type PathOwner } from './personal-paths.ts'
import { mountsWithHome, type FilesOrigin, type Template } from './template.ts'

/** Max bytes of a secret; a larger file is a wrong path, and the engine bounds the whole environment. */
const maxSecret = 65_536

/** Codes of the system when a folder may not be made: the service of the Debian package has the whole file system read-only. */
const mayNotWrite = new Set(['EROFS', 'EACCES', 'EPERM'])
const insteadOfCreate =
  'leave create out and let the file server make homes, or run Berth as root, outside of the service of the Debian package, and export it without root_squash to this machine'

/** Where templates may take files of this machine from. */
export interface SourceFolders {
  /** `SECRETS_DIR`; null: none. */
  readonly secretsDir: string | null
  /** `ALLOWED_MOUNT_ROOTS` */
  readonly mountRoots: readonly string[]
  /** What else is opened by name, so that no container may replace it; left out where templates are not checked. */
  readonly followed?: readonly FollowedPath[]
  /** Mount points that could not be used at the start, with the reason (`unusableMounts`): what leads there is not looked at then. */
  readonly unusable?: ReadonlyMap<string, string>
}

type Sources = Pick<Template, 'type' | 'secrets' | 'mounts' | 'files' | 'registryAuth' | 'home' | 'homeSource'>

/**
 * Secrets and mounts of templates. What they name is read and resolved for each launch, so that a secret or a symbolic link that
 * was changed since counts, and a link that leads out of its root by now is refused.
 */
export class TemplateSources {
  readonly #folders: SourceFolders
  readonly #answering: Pick<AnsweringPaths, 'silentPlace'>
  /** Roots whose file systems did not answer when they were asked last: nothing is compared with them. */
  readonly #silentRoots = new Set<string>()

  /** @param answering for tests */
  constructor(folders: SourceFolders, answering: Pick<AnsweringPaths, 'silentPlace'> = answeringPaths) {
    this.#folders = folders
    this.#answering = answering
  }

  /**
   * To be awaited before `secretsOf` and `mountsOf` while requests are served: those look synchronously. Roots in which the template has
   * nothing may be silent.
   * @throws {RuntimeError} `failed` naming the file system with secrets or mounts of the template that does not answer
   */
  async whenAnswering(template: Sources, owner?: PathOwner): Promise<void> {
    const { type, secrets, registryAuth } = template
    const { secretsDir, mountRoots } = this.#folders
    const files = [...Object.values(secrets), ...(registryAuth ? [registryAuth.passwordFile] : [])]
    const folders = mountsWithHome(template).flatMap(({ source }) =>
      'path' in source ? [owner ? personalPath(source.path, owner) : commonFolder(source.path)] : [],
    )
    const asked = [
      ['secrets', files, secretsDir === null ? [] : [secretsDir]],
      ['mounts', folders, mountRoots],
    ] as const
    for (const [what, named, roots] of asked)
      for (const each of named) {
        const place = await this.#answering.silentPlace(path.resolve(roots[0] ?? '/', each))
        if (place !== undefined)
          throw new FolderUnusable(
            'silent',
            `${type}: ${each} of its ${what}: the file system at ${place} does not answer`,
          )
      }
    const roots = asked.flatMap(([, named, each]) => (named.length === 0 ? [] : each))
    for (const root of roots)
      if ((await this.#answering.silentPlace(root)) === undefined) this.#silentRoots.delete(root)
      else this.#silentRoots.add(root)
  }

  /** What is wrong with the sources of a template, each a sentence; no text of a secret is in it. For the start: see `unusable`. */
  problemsOf(template: Sources): string[] {
    const { secretsDir, mountRoots } = this.#folders
    for (const root of secretsDir === null ? mountRoots : [...mountRoots, secretsDir])
      if (this.#isUnusable(root)) this.#silentRoots.add(root)
    const secret = (what: string, file: string) =>
      this.#isUnusable(file, this.#folders.secretsDir) ? [] : [[what, this.#secret(file)] as const]
    const secrets = Object.entries(template.secrets).flatMap(([name, file]) => secret(`secrets ${name}`, file))
    const mounts = mountsWithHome(template).flatMap(({ source, target }) => {
      const what = template.homeSource && target === template.home ? 'home_source' : `mounts ${target}`
      const folder = 'path' in source ? commonFolder(source.path) : undefined
      return folder === undefined || this.#isUnusable(folder) ? [] : [[what, this.#folder(folder)] as const]
    })
    const password = template.registryAuth ? secret('registry_auth', template.registryAuth.passwordFile) : []
    const files = template.files.flatMap(({ from }) => {
      const named = 'path' in from ? from.path : 'archive' in from ? from.archive : undefined
      return named !== undefined && this.#isUnusable(named) ? [] : [['files', this.#origin(from)] as const]
    })
    return [...secrets, ...mounts, ...password, ...files].flatMap(([what, found]) =>
      'problem' in found ? [`${template.type}: ${what} ${found.problem}`] : [],
    )
  }

  /** Variables of the environment. @throws {RuntimeError} `failed` when a file cannot be read by now */
  secretsOf({ type, secrets }: Sources): Record<string, string> {
    return Object.fromEntries(
      Object.entries(secrets).map(([name, file]) => {
        const secret = this.#secret(file)
        if ('problem' in secret) throw new RuntimeError('failed', `${type}: secrets ${name} ${secret.problem}`)
        return [name, secret.value]
      }),
    )
  }

  /**
   * Account at the registry of the template's image, to be called when that is pulled; undefined for none. It throws
   * `RuntimeError` `failed` when the file cannot be read by then.
   */
  credentialsOf({ type, registryAuth }: Sources): (() => RegistryCredentials) | undefined {
    if (!registryAuth) return undefined
    const { username, passwordFile } = registryAuth
    return () => {
      const password = this.#secret(passwordFile)
      if ('problem' in password) throw new RuntimeError('failed', `${type}: registry_auth ${password.problem}`)
      return { username, password: password.value }
    }
  }

  /** Mounts without symbolic links. @throws {RuntimeError} `failed` when a folder is missing, no folder, or outside of the roots by now */
  mountsOf(template: Sources, owner: PathOwner): Mount[] {
    const { type } = template
    return mountsWithHome(template).map(({ source, target, readOnly }) => {
      if ('volume' in source) return { source: personalVolume(source, owner), target, readOnly }
      const found = this.#folder(personalPath(source.path, owner))
      if ('problem' in found) throw new FolderUnusable('missing', `${type}: mounts ${target} ${found.problem}`)
      return { source: { path: found.real }, target, readOnly }
    })
  }

  /**
   * Makes the home of a person where the template says so and there is none; behind `whenAnswering`.
   * @throws {RuntimeError} `failed`, in words, when it cannot be made or given to its owner
   */
  async makeHome({ type, homeSource }: Pick<Sources, 'type' | 'homeSource'>, owner: PathOwner): Promise<void> {
    if (!homeSource || 'claim' in homeSource || !homeSource.create) return
    const { uid, gid } = homeSource.create
    const folder = personalPath(homeSource.path, owner)
    const above = this.#folder(path.dirname(folder))
    if ('problem' in above) throw new FolderUnusable('missing', `${type}: home_source ${above.problem}`)
    const made = path.join(above.real, path.basename(folder))
    try {
      await mkdir(made, { mode: 0o700 })
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') return
      const why = mayNotWrite.has(code) ? `, because Berth may not write to ${above.real}: ${insteadOfCreate}` : ''
      throw new FolderUnusable('missing', `${type}: home_source ${folder} cannot be made${why}`, error)
    }
    try {
      await chown(made, uid, gid)
    } catch (error) {
      // One that belongs to another account would be taken for a home at the next launch.
      await rmdir(made).catch(() => undefined)
      const why = `cannot be given to ${uid}:${gid}: ${insteadOfCreate}`
      throw new FolderUnusable('missing', `${type}: home_source ${folder} ${why}`, error)
    }
  }

  /** Whether the origin of files is there; a repository is asked at launches alone. */
  #origin(from: FilesOrigin): AllowedPath | { readonly url: string } {
    if ('git' in from) return { url: from.git }
    if ('catalogue' in from) return { real: catalogueFiles(from.catalogue) ?? '' }
    if ('path' in from) return this.#folder(from.path)
    const found = this.#belowRoots(from.archive)
    if ('problem' in found || isOfKind(found.real, 'isFile')) return found
    return { problem: `names ${from.archive}, which is no file` }
  }

  /** A file would be mounted by the engine as well, and what a program saves anew in its place would not be seen. */
  #folder(given: string): AllowedPath {
    const found = this.#belowRoots(given)
    if ('problem' in found || isOfKind(found.real, 'isDirectory')) return found
    return { problem: `names ${given}, which is no folder` }
  }

  /** Whether the path leads to a file system that could not be used at the start. */
  #isUnusable(given: string, root: string | null = this.#folders.mountRoots[0] ?? null): boolean {
    return unusableMountOf(path.resolve(root ?? '/', given), this.#folders.unusable?.keys() ?? []) !== undefined
  }

  #belowRoots(given: string): AllowedPath {
    return allowedPath(given, this.#folders.mountRoots, 'ALLOWED_MOUNT_ROOTS', this.#silentRoots)
  }

  #secret(given: string): { readonly value: string } | { readonly problem: string } {
    const { secretsDir } = this.#folders
    const found = allowedPath(given, secretsDir === null ? [] : [secretsDir], 'SECRETS_DIR', this.#silentRoots)
    return 'problem' in found ? found : readSecret(found.real, given)
  }
}

/** Folder of this machine that is the home of a person; undefined where that is a volume of the engine or a claim of a cluster. */
export const homeFolderOf = ({ homeSource }: Pick<Template, 'homeSource'>, owner: PathOwner): string | undefined =>
  homeSource && 'path' in homeSource ? personalPath(homeSource.path, owner) : undefined

/** Paths of this machine that are looked at when a template is checked. */
export function sourcePathsOf(template: Sources, { secretsDir, mountRoots }: SourceFolders): string[] {
  const { secrets, registryAuth, files } = template
  const inSecrets = [...Object.values(secrets), ...(registryAuth ? [registryAuth.passwordFile] : [])]
  const inRoots = [
    ...mountsWithHome(template).flatMap(({ source }) => ('path' in source ? [commonFolder(source.path)] : [])),
    ...files.flatMap(({ from }) => ('path' in from ? [from.path] : 'archive' in from ? [from.archive] : [])),
  ]
  return [
    ...inSecrets.map((file) => path.resolve(secretsDir ?? '/', file)),
    ...inRoots.map((file) => path.resolve(mountRoots[0] ?? '/', file)),
  ]
}

/** Folder of this machine in which the homes of all people are (`home_source`); undefined without one. */
export const folderOfHomes = ({ home, homeSource }: Pick<Template, 'home' | 'homeSource'>): string | undefined =>
  home !== null && homeSource && 'path' in homeSource ? commonFolder(homeSource.path) : undefined

const personalVolume = ({ volume, subPath }: MountedVolume, owner: PathOwner): MountedVolume => ({
  volume,
  ...(subPath !== undefined && { subPath: personalPath(subPath, owner) }),
})

/** False, too, for what has gone in the meantime. */
const isOfKind = (real: string, kind: 'isFile' | 'isDirectory') =>
  statSync(real, { throwIfNoEntry: false })?.[kind]() === true

function readSecret(file: string, given: string): { readonly value: string } | { readonly problem: string } {
  try {
    const stats = statSync(file)
    if (!stats.isFile()) return { problem: `names ${given}, which is not a regular file` }
    if (stats.size > maxSecret) return { problem: `names ${given}, which is larger than ${maxSecret} bytes` }
    const text = readFileSync(file, 'utf8')
    return text.includes('\0') ? { problem: `names ${given}, which is no text` } : { value: text.replace(/\r?\n$/, '') }
  } catch (error) {
    return { problem: `names ${given}, which cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}` }
  }
}
