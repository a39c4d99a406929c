import { posix } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { list, message } from '@berth/texts/localized-message.ts'
import type { FileEntry, FileSet } from '#/templates/starter-files/file-set.ts'
import { DockerfileProblem, maxDockerfile } from './dockerfile.ts'

/** What a repository says is to be built. */
export interface Recognised {
  /** Path of the file that says it, and of others that are taken into account. */
  readonly files: readonly string[]
  readonly dockerfile: string
  /** Folder that is the context, without a slash at its ends. */
  readonly folder: string
  /** Whether the program runs as the account of the base: the steps are Berth's own. */
  readonly keepsUser: boolean
}

type Files = Pick<FileSet, 'entries' | 'read'>

const devcontainerFiles = ['.devcontainer/devcontainer.json', 'devcontainer.json', '.devcontainer.json']
const packageFiles = ['apt.txt', 'environment.yml', 'requirements.txt', 'package.json']
/** Bytes of a file that is read to be understood; of YAML, which takes long for a large one. */
const [maxRead, maxYaml] = [256 * 1024, 64 * 1024]

/**
 * Finds what a folder of a repository is built from: a Dockerfile; else what `devcontainer.json` names; else packages of
 * the files that say so, on a base image.
 * @param path folder, or a Dockerfile @param base image for files of packages
 * @throws {DockerfileProblem} when there is none of these, or one asks for what is not supported
 */
export async function recognise(files: Files, path: string, base: string | undefined): Promise<Recognised> {
  const given = posix.normalize(path === '' ? '.' : path).replace(/^\/+|\/+$/g, '')
  const wanted = given === '.' ? '' : given
  const reader = new FileReader(files)
  if (reader.has(wanted)) return dockerfileAt(reader, wanted)
  const at = (name: string) => posix.join(wanted, name)
  if (reader.has(at('Dockerfile'))) return dockerfileAt(reader, at('Dockerfile'))
  const devcontainer = devcontainerFiles.find((name) => reader.has(at(name)))
  if (devcontainer !== undefined) return fromDevcontainer(reader, at(devcontainer), wanted)
  const found = packageFiles.filter((name) => reader.has(at(name)))
  if (found.length === 0) throw nothingIn(wanted)
  if (base === undefined)
    throw new DockerfileProblem(message('environments.needsBase', { files: list('comma', found) }))
  return {
    files: found.map(at),
    dockerfile: await dockerfileOfPackages(reader, found, wanted, base),
    folder: wanted,
    keepsUser: true,
  }
}

function nothingIn(folder: string): DockerfileProblem {
  const names = ['Dockerfile', devcontainerFiles[0] ?? '', ...packageFiles]
  return new DockerfileProblem(
    message('environments.nothingRecognised', {
      path: folder === '' ? message('environments.root') : folder,
      files: list('comma', names),
    }),
  )
}

async function dockerfileAt(reader: FileReader, file: string): Promise<Recognised> {
  const folder = posix.dirname(file)
  return {
    files: [file],
    dockerfile: await reader.text(file, maxDockerfile),
    folder: folder === '.' ? '' : folder,
    keepsUser: false,
  }
}

/** Of the many fields those that say what is built; others are about editors. */
interface Devcontainer {
  readonly image?: unknown
  readonly features?: unknown
  readonly dockerComposeFile?: unknown
  readonly build?: { readonly dockerfile?: unknown; readonly context?: unknown; readonly args?: unknown }
  readonly dockerFile?: unknown
  readonly postCreateCommand?: unknown
  readonly onCreateCommand?: unknown
}

async function fromDevcontainer(reader: FileReader, file: string, folder: string): Promise<Recognised> {
  const read = readObject<Devcontainer>(file, await reader.text(file, maxYaml))
  const features = read.features instanceof Object ? Object.keys(read.features) : []
  const unsupported = features[0] ?? (read.dockerComposeFile === undefined ? undefined : 'dockerComposeFile')
  if (unsupported !== undefined)
    throw new DockerfileProblem(message('environments.devcontainerFeatures', { what: unsupported.slice(0, 200) }))
  const named = read.build?.dockerfile ?? read.dockerFile
  if (typeof named === 'string') {
    if (read.build?.args !== undefined || read.build?.context !== undefined)
      throw new DockerfileProblem(message('environments.devcontainerFeatures', { what: 'build.args, build.context' }))
    const path = posix.join(posix.dirname(file), named)
    if (!reader.has(path)) throw badFile(file, named)
    const { files, ...found } = await dockerfileAt(reader, path)
    return { ...found, files: [file, ...files] }
  }
  if (typeof read.image !== 'string' || /\s/.test(read.image)) throw badFile(file, 'image')
  const commands = [read.onCreateCommand, read.postCreateCommand].flatMap((value) => commandsOf(file, value))
  const steps = commands.map((command) => `RUN ${JSON.stringify(command)}`)
  const workdir = steps.length === 0 ? [] : ['COPY . /workspaces/repository', 'WORKDIR /workspaces/repository']
  return {
    files: [file],
    dockerfile: [`FROM ${read.image}`, 'USER 0', ...workdir, ...steps].join('\n'),
    folder,
    keepsUser: true,
  }
}

/** A text for a shell, a list of words, or a map of either. Source: the dev container reference, "Formatting". */
function commandsOf(file: string, value: unknown): readonly (readonly string[])[] {
  if (value === undefined || value === null) return []
  const isMap = value instanceof Object && !Array.isArray(value)
  return (isMap ? Object.values(value) : [value]).map((command: unknown) => {
    if (typeof command === 'string') return ['/bin/sh', '-ec', command]
    const isList = Array.isArray(command) && command.every((word) => typeof word === 'string')
    if (!isList) throw badFile(file, 'onCreateCommand, postCreateCommand')
    return command
  })
}

async function dockerfileOfPackages(
  reader: FileReader,
  found: readonly string[],
  folder: string,
  base: string,
): Promise<string> {
  const place = '/opt/environment'
  const lines = [`FROM ${base}`, 'USER 0']
  if (found.includes('apt.txt')) {
    const file = posix.join(folder, 'apt.txt')
    const names = wordsOf(await reader.text(file, maxRead))
    const wrong = names.find((name) => !/^[a-z0-9][a-z0-9+.:=~-]*$/.test(name))
    if (wrong !== undefined) throw badFile(file, wrong)
    lines.push(shellStep(aptScript(names.join(' '))))
  }
  if (found.includes('environment.yml')) {
    readObject(posix.join(folder, 'environment.yml'), await reader.text(posix.join(folder, 'environment.yml'), maxYaml))
    lines.push(
      `COPY environment.yml ${place}/`,
      shellStep(
        `conda=$(command -v mamba || command -v micromamba || command -v conda); "$conda" env update -y -n base -f ${place}/environment.yml 2>/dev/null || "$conda" env update -n base -f ${place}/environment.yml`,
      ),
    )
  }
  if (found.includes('requirements.txt'))
    lines.push(`COPY requirements.txt ${place}/`, shellStep(pipScript(`-r ${place}/requirements.txt`)))
  if (found.includes('package.json')) {
    const hasLock = reader.has(posix.join(folder, 'package-lock.json'))
    lines.push(
      `COPY package.json ${hasLock ? 'package-lock.json ' : ''}${place}/`,
      shellStep(`cd ${place} && npm ${hasLock ? 'ci' : 'install'} && npm cache clean --force`),
      `ENV NODE_PATH=${place}/node_modules`,
    )
  }
  return lines.join('\n')
}

/** In the form of a list, which no shell reads before its own. */
export const shellStep = (script: string): string => `RUN ${JSON.stringify(['/bin/sh', '-ec', script])}`

/** @param packages names that a shell takes as they are, or in quotes */
export const aptScript = (packages: string): string =>
  `apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ${packages} && rm -rf /var/lib/apt/lists/*`

/** Debian marks its Python as its own (PEP 668), where pip asks for this flag; older versions of pip do not know it. */
export const pipScript = (packages: string): string =>
  `pip=$(command -v pip3 || command -v pip || echo pip3); if "$pip" install --help | grep -q break-system-packages; then flag=--break-system-packages; fi; "$pip" install --no-cache-dir \${flag:-} ${packages}`

/** Words of a file with one name a line, and comments. */
const wordsOf = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line) => line.replace(/#.*$/, '').split(/\s+/))
    .filter((word) => word !== '')

/** Keys are not compared with each other, which takes a minute for many; warnings would be written to the log. */
const yamlOptions = { maxAliasCount: 10, uniqueKeys: false, prettyErrors: false, logLevel: 'error' } as const

/** JSON with comments and commas before a bracket, as editors allow it, is YAML once the comments are gone. */
function readObject<T extends object>(file: string, text: string): T {
  try {
    const read: unknown = parseYaml(file.endsWith('.json') ? withoutComments(text) : text, yamlOptions)
    if (read instanceof Object && !Array.isArray(read)) return read as T
  } catch {
    // Said below.
  }
  throw badFile(file, 'syntax')
}

/** Texts in quotes stay as they are. What is not ended lasts to the end, so that nothing is read twice. */
const withoutComments = (text: string): string =>
  text.replace(
    /("(?:\\.|[^"\\])*(?:"|$))|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g,
    (_, quoted: string | undefined) => quoted ?? ' ',
  )

const badFile = (file: string, why: string) =>
  new DockerfileProblem(message('environments.badFile', { file, why: why.slice(0, 200) }))

class FileReader {
  readonly #files: Files
  readonly #byPath: ReadonlyMap<string, FileEntry & { kind: 'file' }>

  constructor(files: Files) {
    this.#files = files
    this.#byPath = new Map(files.entries.flatMap((each) => (each.kind === 'file' ? [[each.path, each]] : [])))
  }

  has(path: string): boolean {
    return this.#byPath.has(path)
  }

  /** @throws {DockerfileProblem} when it is missing or longer */
  async text(path: string, maxBytes: number): Promise<string> {
    const entry = this.#byPath.get(path)
    if (!entry || entry.size > maxBytes) throw badFile(path, `> ${maxBytes} B`)
    return Buffer.concat(await Array.fromAsync(this.#files.read(entry))).toString()
  }
}
