import { inWords, none, type SettingGroups } from './setting-description.ts'

/** Settings of the engine, of launches, sharing and retention, and of logs and metrics. */
export const operationSettings = {
  'Engine and launches': {
    ENGINE: {
      default: 'docker',
      text: 'Where containers run: `docker`, or `kubernetes`: pods of a cluster.',
      see: 'how-to/run-on-kubernetes.md',
    },
    KUBECONFIG: {
      ...inWords('the service account of the pod that Berth runs in'),
      text: 'File with address and credentials of the cluster, with `ENGINE=kubernetes`; its current context counts.',
      see: 'how-to/run-on-kubernetes.md',
    },
    KUBERNETES_NAMESPACE: {
      ...inWords("the context's"),
      text: 'Namespace of pods and claims.',
      see: 'how-to/run-on-kubernetes.md',
    },
    KUBERNETES_STORAGE_CLASS: {
      ...inWords("the cluster's default"),
      text: 'Storage class of homes.',
      see: 'how-to/run-on-kubernetes.md',
    },
    KUBERNETES_HELPER_IMAGE: {
      ...inWords('none'),
      text: 'Image with `sh`, `tar`, `stat`, `cat` and `readlink`, such as busybox, for pods that read and write homes: starter files, snapshots and backups of homes. It needs rights for `pods/exec`.',
      see: 'how-to/run-on-kubernetes.md',
    },
    DOCKER_HOST: { ...inWords('detected'), text: "The engine's socket, e.g. `unix:///run/docker.sock`." },
    SECRETS_DIR: {
      ...none,
      text: 'Folder with the files of `secrets` of templates. Absolute.',
      see: 'how-to/mount-data-and-secrets.md',
    },
    ALLOWED_MOUNT_ROOTS: {
      ...none,
      text: 'Folders of the host below which templates may mount (`mounts`), with commas between them. Absolute.',
      see: 'how-to/mount-data-and-secrets.md',
    },
    TZ: {
      ...inWords("the machine's time zone"),
      text: 'Time zone such as `Europe/Berlin`, of template fields (`stop_at`, `prestart_at`), hours of groups, notices and days of use that name none.',
    },
    HOST_RULES: {
      default: 'auto',
      text: '`auto`: Berth sets firewall rules that keep containers away from the host, if it is permitted to. `off`: it sets none.',
      see: 'how-to/set-host-rules.md',
    },
    LAUNCH_TIMEOUT: {
      default: '180',
      text: 'Max seconds that a launch request waits. After that it is answered with 500 and its position; the launch itself continues.',
    },
    LAUNCH_PARALLEL: {
      default: '4',
      text: 'Max container creations and starts that the engine handles at the same time.',
    },
    MAX_RUNNING: {
      ...none,
      text: 'Max containers that run at the same time, of all users. Paused containers count.',
      see: 'how-to/plan-capacity.md',
    },
    MAX_PER_USER: { ...none, text: 'Max containers that run at the same time, of one user. Paused containers count.' },
  },
  'Shared containers': {
    SHARING: {
      default: 'off',
      text: '`people`: users may share their containers with others, by e-mail address. `groups`: with groups that they are in. `people,groups`: both. `off`: not at all; shares from before open nothing.',
      see: 'how-to/share-containers.md',
    },
    SHARE_MAX_DURATION: {
      default: '2592000',
      text: 'Seconds that a share may last, 60 to 31536000.',
      see: 'how-to/share-containers.md',
    },
  },
  'Disk and retention': {
    SNAPSHOTS: {
      default: 'off',
      text: '`on`: users make snapshots of their homes and restore them, and one is made before a container gets another image. They are archives in `DATA_DIR`, which needs the room.',
      see: 'how-to/keep-snapshots-of-homes.md',
    },
    SNAPSHOT_MAX_SIZE: {
      default: '4g',
      text: 'Homes with more bytes than that, such as `512m`, get no snapshots.',
      see: 'how-to/keep-snapshots-of-homes.md',
    },
    MAX_DISK_PER_USER: {
      ...none,
      text: 'Max bytes (or text such as `10g`) of all homes of one user. At nine tenths of it the user is warned. At the limit only the container with the largest home still starts, up to a quarter above the limit.',
      see: 'how-to/limit-disk-use.md',
    },
    ARCHIVE_DIR: {
      ...inWords('`archives` in `DATA_DIR`'),
      text: 'Folder of archives of homes, which are made at the end of a term. Several nodes need one that all of them share.',
      see: 'how-to/end-a-term.md',
    },
    KEEP_HOMES: {
      default: '2592000',
      text: 'Seconds for which the homes of a deleted user are kept.',
      see: 'how-to/delete-users.md',
    },
    KEEP_AUDIT_ADDRESSES: {
      default: '7776000',
      text: 'Seconds for which the audit log keeps network addresses, and e-mail addresses of accounts that were deleted or invited to a group. The entries stay, and the log stays verifiable.',
      see: 'how-to/keep-a-record-of-processing.md',
    },
    KEEP_TAKEOVERS: {
      default: '2592000',
      text: 'Seconds for which users see that an administrator acted for them, with administrator and reason. The audit log has it, too.',
      see: 'how-to/keep-a-record-of-processing.md',
    },
    KEEP_USAGE_DAYS: {
      default: '30',
      text: 'Days for which sums of use are kept by day: hours running and in use of users, groups and types, and nothing of what they did. `0` here and for months: no use is recorded.',
      see: 'how-to/see-how-berth-is-used.md',
    },
    KEEP_USAGE_MONTHS: {
      default: '24',
      text: 'Months for which the same sums are kept by month.',
      see: 'how-to/see-how-berth-is-used.md',
    },
    MEASURE_USAGE: {
      default: '0',
      text: 'Seconds between two measurements of the CPU time and the memory that containers take, 60 or more, such as `300`; homes are measured once an hour then. The sums of use have them, too. `0`: nothing is measured.',
      see: 'how-to/see-how-berth-is-used.md',
    },
    FETCH_IMAGES: {
      default: 'all',
      text: '`all`: images of all templates that the engine does not have are fetched when Berth starts and when templates change, one at a time, so that no first launch waits for one; what cannot be fetched is tried again after 1 minute, and then ever more rarely. `prestart`: only those of templates with `prestart` or `prestart_at`.',
      see: 'how-to/open-containers-faster.md',
    },
    RETIRE_AFTER: {
      default: '1209600',
      text: 'Seconds after which an unused stopped container is removed from the engine. Its home stays, and the next launch or visit creates the container again. `0`: never.',
      see: 'how-to/retire-unused-containers.md',
    },
  },
  'Logs and metrics': {
    LOG_LEVEL: {
      default: 'info',
      text: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Without `SMTP_URL` the links of mails are logged at every level but `silent`.',
    },
    ACCESS_LOG: {
      default: 'off',
      text: '`off`, `common` (Common Log Format) or `json`: one line for each request to containers, API and pages. Queries, headers and long segments of paths are not written.',
      see: 'how-to/keep-an-access-log.md',
    },
    ACCESS_LOG_FILE: {
      ...inWords('standard output'),
      text: 'File of the access log; lines are added. `SIGUSR2` opens it anew.',
      see: 'how-to/keep-an-access-log.md',
    },
    METRICS_TOKEN: {
      ...none,
      isSecret: true,
      text: 'Bearer token that `/metrics` requires (403 without it). Without this setting only programs on the same machine may read the metrics, and no proxy.',
      see: 'how-to/monitor.md',
    },
    METRICS_LISTEN: {
      ...none,
      text: '`host:port` of a listener that serves `/metrics` only. The public listener then answers 404.',
      see: 'how-to/monitor.md',
    },
    AUDIT_WEBHOOK_URL: {
      ...none,
      isSecret: true,
      text: 'Address to which every entry of the audit log is sent as a signed message (Standard Webhooks): `https://`, or `http://` at a loopback address. Needs `AUDIT_WEBHOOK_SECRET`.',
      see: 'how-to/send-audit-entries.md',
    },
    AUDIT_WEBHOOK_SECRET: {
      ...none,
      isSecret: true,
      text: 'Secret of the signatures: `whsec_` and 24 to 64 bytes in base64. Several, separated by spaces, sign each message once each while a receiver changes its secret.',
      see: 'how-to/send-audit-entries.md',
    },
  },
} as const satisfies SettingGroups
