import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { docker, dockerSays } from './docker.ts'

/** Images of the composition that are not Berth's: as deploy/compose names them, with the variable that replaces them. */
const official = {
  caddy: { image: 'caddy:2', variable: 'CADDY_IMAGE' },
  nginx: { image: 'nginx:1.28', variable: 'NGINX_IMAGE' },
  postgres: { image: 'postgres:17', variable: 'POSTGRES_IMAGE' },
  mailpit: { image: 'axllent/mailpit:v1.27.8', variable: 'MAIL_IMAGE' },
} as const

type Name = keyof typeof official

const packages = ['nginx-light', 'caddy', 'postgresql', 'gettext-base', 'python3-aiosmtpd', 'ca-certificates']
const debian = 'berth-compose-debian:12'
const cache = path.resolve(import.meta.dirname, '../../../.berth/compose')

/**
 * The official images where a registry answers, otherwise images of Debian 12 that stand in for them, made by debootstrap.
 * @returns the variables of `.env` that name the images, and which are stand-ins
 */
export function provideImages(): { readonly variables: Record<string, string>; readonly standIns: readonly string[] } {
  const standIns: string[] = []
  const named = (Object.keys(official) as Name[]).map((name) => {
    const { image, variable } = official[name]
    if (isThere(image) || isPulled(image)) return [variable, image] as const
    standIns.push(name)
    return [variable, standIn(name)] as const
  })
  return { variables: Object.fromEntries(named), standIns }
}

/** Takes the stand-ins away again; official images stay. Nothing to do when there are none. */
export function removeStandIns(): void {
  const made = [...Object.keys(official).map((name) => `berth-compose-${name}:12`), debian]
  for (const image of made) if (isThere(image)) docker(60_000, 'rmi', image)
}

const isThere = (image: string) => dockerSays('images', '--quiet', image) !== ''

function isPulled(image: string): boolean {
  try {
    docker(300_000, 'pull', '--quiet', image)
    return true
  } catch {
    return false
  }
}

function standIn(name: Name): string {
  const image = `berth-compose-${name}:12`
  if (!isThere(debian)) importDebian()
  const searchPath = '/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  const id = dockerSays('create', debian, 'true')
  try {
    for (const file of ['stand-in.sh', 'mail-catcher.py'])
      docker(60_000, 'cp', path.join(import.meta.dirname, file), `${id}:/stand-in/${file}`)
    const entry = `ENTRYPOINT ["/bin/sh", "/stand-in/stand-in.sh", "${name}"]`
    docker(60_000, 'commit', '--change', entry, '--change', 'CMD []', '--change', `ENV PATH=${searchPath}`, id, image)
  } finally {
    docker(60_000, 'rm', id)
  }
  return image
}

/** A minute with a network, once; then from `.berth`. */
function importDebian(): void {
  const [root, archive] = [path.join(cache, 'root'), path.join(cache, 'root.tar')]
  if (!existsSync(archive)) {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(cache, { recursive: true })
    process.stdout.write('no registry answers: debootstrap of Debian 12 ...\n')
    const options = ['--variant=minbase', `--include=${packages.join(',')}`]
    execFileSync('debootstrap', [...options, 'bookworm', root], { stdio: 'ignore', timeout: 600_000 })
    rmSync(path.join(root, 'var/cache/apt/archives'), { recursive: true })
    mkdirSync(path.join(root, 'stand-in'))
    execFileSync('tar', ['--create', `--file=${archive}`, '--one-file-system', `--directory=${root}`, '.'])
    rmSync(root, { recursive: true })
  }
  docker(300_000, 'import', archive, debian)
}
