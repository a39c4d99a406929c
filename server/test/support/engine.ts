import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import Docker from 'dockerode'

const run = promisify(execFile)
const docker = new Docker()

/** Name of the image that tests launch: a web server of busybox that answers with the files of its home. */
const image = 'berth-test-web:1'

/**
 * A tiny image made from Debian's static busybox, without any registry: `/home/berth` belongs to user 1000 and is
 * served on port 8080 by `httpd`. Built once per machine.
 */
export async function testImage(): Promise<string> {
  const isThere = await docker
    .getImage(image)
    .inspect()
    .then(
      () => true,
      () => false,
    )
  if (!isThere) await build()
  return image
}

async function build(): Promise<void> {
  const busybox = ['/bin/busybox', '/usr/bin/busybox'].find((file) => existsSync(file))
  if (!busybox) throw new Error('busybox is not installed; npm test installs it, or: apt-get install busybox-static')
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-image-'))
  try {
    mkdirSync(path.join(folder, 'bin'))
    copyFileSync(busybox, path.join(folder, 'bin/busybox'))
    writeFileSync(path.join(folder, 'Dockerfile'), dockerfile)
    await run('tar', ['-cf', 'context.tar', 'bin', 'Dockerfile'], { cwd: folder })
    const progress = await docker.buildImage(path.join(folder, 'context.tar'), { t: image })
    await new Promise<void>((resolve, reject) =>
      docker.modem.followProgress(progress, (error: Error | null) => (error ? reject(error) : resolve())),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const dockerfile = `FROM scratch
COPY bin /bin
RUN ["/bin/busybox", "sh", "-c", "/bin/busybox --install -s /bin && mkdir -p /home/berth /tmp && chown 1000:1000 /home/berth && chmod 1777 /tmp && echo hello > /home/berth/index.html"]
USER 1000:1000
WORKDIR /home/berth
EXPOSE 8080
CMD ["/bin/httpd", "-f", "-p", "8080", "-h", "/home/berth"]
`

/** Takes away everything that carries this installation's label: containers, volumes, networks. */
export async function removeInstance(instance: string): Promise<void> {
  const filters = { label: [`berth.instance=${instance}`] }
  const containers = await docker.listContainers({ all: true, filters })
  await Promise.all(
    containers.map(({ Id }) =>
      docker
        .getContainer(Id)
        .remove({ force: true, v: true })
        .catch(() => undefined),
    ),
  )
  const { Volumes } = await docker.listVolumes({ filters })
  await Promise.all(
    (Volumes ?? []).map(({ Name }) =>
      docker
        .getVolume(Name)
        .remove()
        .catch(() => undefined),
    ),
  )
  const networks = await docker.listNetworks({ filters })
  await Promise.all(
    networks.map(({ Id }) =>
      docker
        .getNetwork(Id)
        .remove()
        .catch(() => undefined),
    ),
  )
}
