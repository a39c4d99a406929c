import * as kinds from './field-values.ts'

/** One row of the table of fields. */
export interface Field<Value = unknown> extends kinds.Kind<Value> {
  /** As it is written in JSON; without one the field is required, or `usually` says what holds. */
  readonly default?: unknown
  /** What holds without the field, where that is no fixed value. Markdown. */
  readonly usually?: string
  /** What it sets. Markdown. */
  readonly text: string
  /** Page that explains it, from the docs folder. */
  readonly see?: `${'how-to' | 'explanation' | 'reference'}/${string}.md`
}

/** Seconds. */
const year = 31_536_000

/**
 * Fields of a template by subject, in the order of docs/reference/templates.md: each row has kind, limits, default and
 * words of one field. `readTemplate` reads these and no others.
 */
export const fieldGroups = {
  Catalogue: {
    extends: {
      ...kinds.orNull(kinds.text),
      text: 'Name of a template of the catalogue. Fields that are given beside it replace those of the catalogue; variables of `env` are added to its variables.',
      see: 'reference/catalogue.md',
    },
  },
  Appearance: {
    display_name: { ...kinds.anyText, usually: 'the type', text: 'Name on the dashboard.' },
    description: { ...kinds.anyText, default: '', text: 'Text below the name on the dashboard.' },
    icon: {
      ...kinds.orNull(kinds.icon),
      text: 'Picture on the dashboard: the name of a sign of the pages, or the absolute path of an image on this machine (PNG or plain SVG, square, at most 64 KiB). The image is read when the templates are, and each person who knows its address can read it. `null`: the sign `app`.',
    },
    open_path: {
      ...kinds.pathAndQuery,
      default: '/',
      text: "Path and query below the container's address to which Open leads, e.g. `vnc.html?autoconnect=1`.",
    },
  },
  'Image and program': {
    image: {
      ...kinds.text,
      usually: 'required without `environment`',
      text: 'Image reference. After the image is built or pulled again, a stopped container gets the new image at its next start; a running container keeps the old one.',
    },
    environment: {
      ...kinds.orNull(kinds.environmentName),
      text: 'Name of an environment, in place of `image`: launches use its published version. Berth does not start with it while `ENVIRONMENTS` is off.',
      see: 'how-to/build-environments.md',
    },
    registry_auth: {
      ...kinds.orNull(kinds.account),
      text: 'Account at the registry of `image`, `{username, password_file: path below SECRETS_DIR}`; used when the image has to be pulled. The file is read each time, and one line break at its end is cut. `null`: as an unknown client.',
      see: 'how-to/mount-data-and-secrets.md',
    },
    command: { ...kinds.orNull(kinds.textList), text: 'Command; `null` uses the command of the image.' },
    env: { ...kinds.variables, default: {}, text: 'Environment variables.' },
    secrets: {
      ...kinds.secretFiles,
      default: {},
      text: 'Environment variables whose values are in files: a map of variable to `{file: path below SECRETS_DIR}`. Read at each launch; one line break at the end is cut.',
      see: 'how-to/mount-data-and-secrets.md',
    },
    parameters: {
      ...kinds.parameterMap,
      default: {},
      text: `What users choose when they launch, a map of name to \`{label, type, choices, default, min, max, env}\`. \`type\` is \`choice\` (one of \`choices\`), \`number\` (from \`min\` to \`max\`), \`boolean\` or \`text\` (of \`min\` to \`max\` characters; ${kinds.maxText} at most without \`max\`); the value is in the variable \`env\`. Without \`default\`: the first choice, the number nearest to 0, \`false\`, an empty text. Without \`label\`: the name.`,
      see: 'how-to/run-applications.md',
    },
    port: {
      ...kinds.orNull(kinds.whole(1, 65_535)),
      text: 'Port on which the application listens; `null` uses the single port that the image exposes, else 8080.',
    },
    scheme: {
      ...kinds.oneOf('http', 'https'),
      default: 'http',
      text: '`https`: the application speaks TLS on its port; its certificate is not checked.',
      see: 'how-to/open-further-ports.md',
    },
    ports: {
      ...kinds.furtherPorts,
      default: 'any',
      text: 'Further ports of the container that its owner opens at `/{slug}-{type}:{port}/`, such as those of development servers. What is not allowed is answered with 404.',
      see: 'how-to/open-further-ports.md',
    },
    ready_path: {
      ...kinds.orNull(kinds.pathAndQuery),
      text: "Path and query below the container's address, e.g. `healthz`, of a `GET` that has to be answered below 500 before the container is shown as ready and before the gateway forwards requests after a start; `null`: an open port is enough.",
    },
    runtime: {
      ...kinds.orNull(kinds.text),
      text: "OCI runtime, e.g. `runsc`; `null` uses the engine's default. Berth does not start if the engine lacks it.",
      see: 'how-to/harden-containers.md',
    },
  },
  'Limits and files': {
    memory: { ...kinds.memory, default: '2g', text: 'Max memory. No swap is added.' },
    cpus: { ...kinds.cores, default: 2, text: 'CPU cores, e.g. `0.5`. Capped at the number of cores of the host.' },
    pids: { ...kinds.whole(1, 4_194_304), default: 512, text: 'Max processes and threads.' },
    shm_size: {
      ...kinds.size,
      default: '64m',
      text: 'Size of `/dev/shm`, the memory that processes share. What is in it counts as memory of the container, so more than `memory` is never available. PyTorch and PostgreSQL need more than the default.',
    },
    gpus: {
      ...kinds.whole(0, 1_024),
      default: 0,
      text: 'Number of GPUs. Berth does not start if the engine offers none (the runtime `nvidia`, the program `nvidia-container-runtime-hook` on the same machine, or devices of CDI). With `GPU_IDS` each GPU belongs to one container at a time, see [Share GPUs](../how-to/share-gpus.md).',
    },
    devices: {
      ...kinds.deviceList,
      default: [],
      text: "Devices of the host: `/dev/fuse`, or with another name and with rights in the container `/dev/sda:/dev/xvda:rw`. Berth does not start if this machine's engine does not have one.",
    },
    home: {
      ...kinds.orNull(kinds.absolutePath),
      default: '/home/berth',
      text: 'Mount point of a volume that outlives the container, of the user and type or of the user (`home_of`); `null` for none.',
    },
    home_of: {
      ...kinds.oneOf('type', 'user'),
      default: 'type',
      text: '`type`: each type of a person has a home of its own. `user`: one home for all types of a person that say so, mounted at the `home` of each; several of their containers may have it at the same time. These types must have the same `home_size` and `home_source`.',
      see: 'how-to/share-homes-and-folders.md',
    },
    home_size: {
      ...kinds.orNull(kinds.size),
      text: 'Max size of the home; `null` for no limit. Enforced where the file system of the engine has project quotas; elsewhere the owner is warned at nine tenths, and launches are refused from a quarter above the limit.',
      see: 'how-to/limit-disk-use.md',
    },
    layer_size: {
      ...kinds.orNull(kinds.size),
      default: null,
      text: 'Max size of what the container writes outside of its home and its mounts, into the writable layer that its engine keeps for it; `null` for no limit. Enforced by Docker with `overlay2` on XFS with project quotas, and by a cluster. Elsewhere measured every ten minutes: the owner is warned at nine tenths, and at the limit the container is stopped, and made anew at its next start.',
      see: 'how-to/limit-disk-use.md',
    },
    home_source: {
      ...kinds.orNull(kinds.homeSource),
      text: 'A folder of the host in place of a volume of the engine, such as of a file server: `{path: "/srv/homes/{slug}", create: "1000:1000"}`, below one of `ALLOWED_MOUNT_ROOTS`, symbolic links followed. `{slug}` and `{user_id}` stand for the person. With `create` a missing folder is made, with mode 0700 and this owner; without it the launch is refused. With `ENGINE=kubernetes` it is a folder of a claim of the namespace: `{claim: homes, sub_path: "{slug}"}`; the claim needs `ReadWriteMany`. Berth neither measures, snapshots, archives nor removes what is in it.',
      see: 'how-to/share-homes-and-folders.md',
    },
    user: {
      ...kinds.orNull(kinds.accountIds),
      text: '`uid` or `uid:gid` as which the container runs; `null`: as the image says. A new home belongs to it.',
      see: 'how-to/share-homes-and-folders.md',
    },
    group_folders: {
      ...kinds.orNull(kinds.absolutePath),
      text: "Absolute path in the container below which folders of the owner's groups appear, as `{path}/{name of the folder}`. Managers of a group write; members read, or write where the folder says so. `null`: none.",
      see: 'how-to/share-homes-and-folders.md',
    },
    mounts: {
      ...kinds.mountList,
      default: [],
      text: 'Volumes and folders of the host, a list of `{source, target, read_only}`. `source` is `{volume: name}`, made when it is missing, or `{path: /folder}` below one of `ALLOWED_MOUNT_ROOTS`, symbolic links followed; `{slug}` and `{user_id}` in it stand for the person. `target` is an absolute path in the container; `read_only` is `true` by default; a folder that is mounted writable may have no other mount or starter files below it.',
      see: 'how-to/mount-data-and-secrets.md',
    },
    files: {
      ...kinds.starterFileList,
      default: [],
      text: 'Starter files, a list of `{from, to, update}` that are put into the home whenever a container is created, before its start. `from` is `{path: /folder}` or `{archive: /file.zip}` (`.tar`, `.tar.gz`, `.zip`) below one of `ALLOWED_MOUNT_ROOTS`, symbolic links followed, `{git: URL, ref}` (http, https or file; a branch, tag or commit), or `{catalogue: name}`, files of this release that a template of the catalogue needs. `to` is a folder relative to the home. `update`: `never` puts them there once, `missing` (default) also files that are missing later, `changed` also files that have changed in `from`; what a user changed is kept beside as `name.1`.',
      see: 'how-to/provide-course-material.md',
    },
    read_only: {
      ...kinds.flag,
      default: false,
      text: '`true`: the root file system is read-only, with `/tmp`, `/run` and `/var/tmp` in memory, each at most half of `memory`.',
    },
  },
  Kubernetes: {
    kubernetes: {
      ...kinds.orNull(kinds.clusterFields),
      text: 'With `ENGINE=kubernetes` only; elsewhere Berth does not start with it. A map of `node_selector` (labels that the node must have), `tolerations` (a list of `{key, operator, value, effect, seconds}`, as in a pod), `storage_class` (of homes that are made from now on; without it `KUBERNETES_STORAGE_CLASS`), `pull_secrets` (names of Secrets of the namespace with accounts at registries, beside `registry_auth`), `gpu_resource` (what `gpus` counts; `nvidia.com/gpu` without it).',
      see: 'how-to/run-on-kubernetes.md',
    },
  },
  'Idle containers': {
    idle_pause: {
      ...kinds.whole(0, year, 'seconds'),
      default: 0,
      text: 'Time without traffic after which the container is paused (memory stays allocated, no CPU time, resumes in milliseconds). `0`: never. Must be less than `idle_timeout`.',
    },
    idle_timeout: {
      ...kinds.whole(0, year, 'seconds'),
      default: 0,
      text: 'Time without traffic after which the container is stopped (memory is freed; the next request of its owner starts it). `0`: never.',
    },
    idle_cpu: {
      ...kinds.orNull(kinds.cores),
      text: 'CPU cores, e.g. `0.1`: a container whose average use since the last check is higher is not idle, whatever its traffic. `null`: only traffic counts.',
    },
    idle_probe: {
      ...kinds.orNull(kinds.idleProbe),
      text: "Whom Berth asks whether a running container is used: `jupyter` (kernels and terminals), `code-server` (its heartbeat), or `{path, active}`: a path below the container's address that answers JSON, and a JSON pointer (RFC 6901) in it to the time of the last use or to a number of what is going on. It is asked every minute, and before each suspension. While it answers, traffic counts as no use, except for a page that was opened in the last five minutes; a page that is left open wakes nothing. While it does not answer, traffic counts. `null`: traffic counts.",
      see: 'how-to/suspend-idle-containers.md',
    },
    idle_ignore: {
      ...kinds.ignoredPaths,
      default: [],
      text: "Paths below the container's address, such as `/api/metrics` or `/live/*`, whose requests and WebSockets are no use of it: they neither keep it awake nor wake it. `*` at the end stands for any rest.",
      see: 'how-to/suspend-idle-containers.md',
    },
  },
  Prestart: {
    prestart: {
      ...kinds.flag,
      default: false,
      text: '`true`: the container is started when its user signs in, and paused as soon as its app is ready, so that opening it costs an unpause. It respects `MAX_RUNNING`, `MAX_PER_USER` and blocks, waits behind all launches that users ask for, and is stopped, while it is unused, for a launch that has no capacity. Its memory stays allocated until `idle_timeout`. The image is fetched when Berth starts.',
      see: 'how-to/open-containers-faster.md',
    },
    prestart_at: {
      ...kinds.orNull(kinds.timeOfDay),
      text: 'Time of day, such as `07:30`, with a time zone `07:30 Europe/Berlin`, at which the containers of users who used theirs in the last seven days are started and paused in the same way; without a time zone that of `TZ`.',
    },
  },
  Lifetime: {
    max_lifetime: {
      ...kinds.whole(0, year, 'seconds'),
      default: 0,
      text: 'Time since its start after which the container is stopped, whether it is used or not; `0`: never. Its owner is warned a minute before, or a quarter of the time if that is shorter, and can start it again.',
    },
    stop_at: {
      ...kinds.orNull(kinds.timeOfDay),
      text: 'Time of day at which running containers are stopped, such as `22:00`, with a time zone `22:00 Europe/Berlin`; without one that of `TZ`. Owners are warned a minute before.',
    },
  },
  'Requests and visitors': {
    strip_prefix: {
      ...kinds.flag,
      default: true,
      text: '`true`: the application sees paths without `/{slug}-{type}`. With `CONTAINER_ROUTING=subdomain` it sees them as they are.',
      see: 'how-to/run-applications.md',
    },
    rewrite_location: {
      ...kinds.flag,
      default: true,
      text: '`true`: addresses in the headers `Location`, `Content-Location`, `Link` and `Refresh` of answers get the prefix when they are absolute paths without it, and become those that people see when they name the application by its own port.',
    },
    allow_headers: {
      ...kinds.headerNames,
      default: [],
      text: 'Names of response headers to pass to the browser that are removed by default. `set-cookie` and `service-worker-allowed` cannot be listed.',
    },
    access: {
      ...kinds.oneOf('owner', 'authenticated', 'public'),
      default: 'owner',
      text: '`owner`, `authenticated` (any signed-in user) or `public`: who may open the container.',
      see: 'how-to/share-containers.md',
    },
    groups: {
      ...kinds.textList,
      default: [],
      text: 'Names of groups whose members may launch the type, beside administrators; other users do not see it. `[]`: all users. A name without a group is reported as a warning: the group may be made later.',
      see: 'how-to/manage-groups.md',
    },
    sandbox_visitors: {
      ...kinds.flag,
      default: true,
      text: '`true`: pages run in a browser sandbox for visitors who are not the owner. With `CONTAINER_ROUTING=subdomain` they need none.',
      see: 'how-to/share-containers.md',
    },
    forward_token: {
      ...kinds.oneOf('scoped', 'full'),
      default: 'scoped',
      text: "`scoped`: the application receives a short-lived token that the API refuses. `full`: it receives its owner's own access token; only with `access: owner`, and not with `CONTAINER_ROUTING=subdomain`.",
      see: 'how-to/identify-visitors.md',
    },
  },
  Privileges: {
    cap_add: {
      ...kinds.capabilities,
      default: [],
      text: 'Linux capabilities in addition to the default eight, e.g. `SYS_PTRACE`. `ALL` is refused.',
      see: 'how-to/harden-containers.md',
    },
    allow_setuid: { ...kinds.flag, default: false, text: '`true`: setuid programs such as `sudo` work.' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Field>>>>

type Groups = typeof fieldGroups
type Rows = { [G in keyof Groups]: (rows: Groups[G]) => void }[keyof Groups] extends (rows: infer All) => void
  ? All
  : never

/** Name of a field. */
export type FieldName = { [G in keyof Groups]: keyof Groups[G] }[keyof Groups] & string

/** What is read of a field. */
export type ValueOf<Name extends FieldName> = Rows[Name] extends kinds.Kind<infer Value> ? Value : never

/** Every row by the name of its field, in the order of the page. */
export const fields: ReadonlyMap<string, Field> = new Map(
  Object.values<Readonly<Record<string, Field>>>(fieldGroups).flatMap((group) => Object.entries(group)),
)

/** The value of a field, or the problem in words that follow its name. @param given undefined: its default counts */
export function readField<Name extends FieldName>(name: Name, given: unknown): kinds.Read<ValueOf<Name>> {
  const field = fields.get(name) as Field<ValueOf<Name>>
  return field.read(given === undefined ? field.default : given)
}

/** The value of a field that a template does not have. @throws for a field without a default */
export function defaultOf<Name extends FieldName>(name: Name): ValueOf<Name> {
  const read = readField(name, undefined)
  if ('problem' in read) throw new Error(`the template field ${name} ${read.problem}`)
  return read.value
}
