/** Description of one setting in docs/reference/settings.md. */
export interface SettingDescription {
  /** The default, as it is written in the environment, or in words where it depends on other settings. */
  readonly default: string
  /** True where `default` is words and not a value. */
  readonly isDefaultInWords?: true
  /** What it sets, its unit and its limits. Markdown without links. */
  readonly text: string
  /** Its value is a secret, or contains one: it can be given by a file, `NAME_FILE`. */
  readonly isSecret?: true
  /** Page that explains it, from the docs folder. */
  readonly see?: `${'how-to' | 'explanation'}/${string}.md`
}

/** Settings by subject, in the order of the page. */
type SettingGroups = Readonly<Record<string, Readonly<Record<string, SettingDescription>>>>

/** A setting without a default. */
const none = { default: 'none', isDefaultInWords: true } as const

/** A default that depends on other settings or on the machine. */
const inWords = (words: string) => ({ default: words, isDefaultInWords: true }) as const

/** Settings of the listener, of data and addresses, and of container templates. */
const baseSettings = {
  'Listener, data and addresses': {
    HOST: { default: '127.0.0.1', text: 'Address that the listener binds to.' },
    PORT: { default: '8080', text: 'Port of the listener. `0` picks a free port and prints it.' },
    DATA_DIR: {
      default: './data',
      text: 'Folder of the embedded database, the signing keys (mode 0600) and the mail outbox. With SQLite on a local disk: on NFS, SMB or 9p the database can be damaged, and Berth warns.',
    },
    DATABASE_URL: {
      ...inWords('SQLite in `DATA_DIR`'),
      isSecret: true,
      text: '`postgres://user:password@host/database` uses PostgreSQL instead of SQLite. One Berth uses a database; a second one refuses to start, unless both have a `NODE_ADDRESS`. A pooler has to keep sessions. It names one host: after a failover of the database that address leads to the other server.',
    },
    DRAIN_TIME: {
      default: '0',
      text: 'Seconds, up to 300, for which Berth goes on serving after a signal to stop while `/readyz` answers 503, so that a load balancer sends requests elsewhere before connections are refused. Longer than it takes to notice.',
      see: 'how-to/run-several-nodes.md',
    },
    NODE_ADDRESS: {
      ...none,
      text: '`host:port` at which the other nodes of this installation reach this one. With it several nodes run on one PostgreSQL database, of which one leads. Needs `DATABASE_URL`; give all nodes the same `BASE_DOMAIN` and `SMTP_URL` (without it each link is in outbox and log of the node that leads). Not set: this is the only node.',
      see: 'how-to/run-several-nodes.md',
    },
    NODE_SECRET: {
      ...none,
      isSecret: true,
      text: 'At least 32 characters, the same on all nodes. It encrypts the keys in the database, by which tokens are signed and the nodes know each other. Not set: a copy of the database opens them, and a warning says so.',
      see: 'how-to/run-several-nodes.md',
    },
    BASE_DOMAIN: {
      ...inWords('`berth.localhost:{PORT}`'),
      text: "Base domain of all hosts. It may carry a port, which the cookie's `Domain` attribute drops.",
    },
    SPAWNER_SUBDOMAIN: {
      default: 'spawner',
      text: 'Subdomain in front of the base domain. An empty value uses the base domain itself.',
    },
    CONTAINER_ROUTING: {
      default: 'path',
      text: '`path`: containers are below paths of the spawner host, with one origin for all. `subdomain`: each container has a host of its own, `{slug}-{type}.{spawner host}`; it needs a wildcard record in DNS and a wildcard certificate.',
      see: 'how-to/give-containers-their-own-hosts.md',
    },
    PREFERRED_URL_SCHEME: {
      default: 'http',
      text: '`http` or `https`: scheme of generated addresses. With `https` the cookie is `Secure`.',
      see: 'how-to/use-a-reverse-proxy.md',
    },
    TLS_CERT_FILE: {
      ...none,
      text: 'File of the certificate chain (PEM) for TLS in Berth itself, without a proxy; needs `TLS_KEY_FILE` and `PREFERRED_URL_SCHEME=https`. Both files are read again within seconds when they change.',
      see: 'how-to/use-tls-without-a-proxy.md',
    },
    TLS_KEY_FILE: {
      ...none,
      text: 'File of the private key (PEM) of the certificate, which accounts other than its owner and group cannot read.',
      see: 'how-to/use-tls-without-a-proxy.md',
    },
    HTTP_REDIRECT_PORT: {
      ...none,
      text: 'With TLS in Berth: port, usually `80`, on which every request is redirected to `https`.',
      see: 'how-to/use-tls-without-a-proxy.md',
    },
    HSTS_MAX_AGE: {
      default: '31536000',
      text: 'With TLS in Berth: seconds for which browsers use `https` only for this host (`Strict-Transport-Security`). `0`: not sent.',
      see: 'how-to/use-tls-without-a-proxy.md',
    },
    FRONTEND_URL: {
      ...inWords('`{scheme}://{subdomain}.{domain}`'),
      text: 'Address of the front end in the links of mails.',
    },
    TRUSTED_PROXIES: {
      ...none,
      text: 'Addresses and networks, separated by commas, whose `X-Forwarded-For` header is trusted.',
      see: 'how-to/use-a-reverse-proxy.md',
    },
    SUPPORT_CONTACT: {
      ...none,
      text: 'Contact for help, shown on every page: an e-mail address, an `http(s)` URL, or text such as `room 12, telephone 34`. At most 200 characters on one line.',
    },
    BRANDING_FILE: {
      ...none,
      text: "Path of a YAML or JSON file with the installation's own [look](branding.md): name, logo, colours, imprint, privacy notice, notices. The file, and those that it names, are read at the start and at SIGHUP.",
      see: 'how-to/brand-an-installation.md',
    },
  },
  'Container templates': {
    CONTAINER_TEMPLATES: {
      ...inWords('the demo types `dev` and `prod`'),
      text: 'Names of the [catalogue](catalogue.md), separated by commas, such as `code-server,jupyterlab`; or JSON text: a map of container type to [template](templates.md), in the order of the dashboard. A value of only letters, digits, `-`, `_`, commas and spaces is a list of names.',
    },
    CONTAINER_TEMPLATES_FILE: {
      ...none,
      text: 'Path of a JSON or YAML file with the same map. Set this or `CONTAINER_TEMPLATES`, not both.',
    },
    USER_TEMPLATE_IMAGE_DEV: {
      ...inWords('`berth-demo-dev:latest`'),
      text: 'Image of the demo type `dev`.',
    },
    USER_TEMPLATE_IMAGE_PROD: {
      ...inWords('`berth-demo-prod:latest`'),
      text: 'Image of the demo type `prod`.',
    },
  },
} as const satisfies SettingGroups

/** Settings of accounts, sign-in and mail. */
const accountSettings = {
  'Accounts and links': {
    SIGN_IN: {
      default: 'link,oidc',
      text: 'What the login page offers: `link` (mailed links), `oidc` (the providers of `OIDC_PROVIDERS_FILE`), or both. With `oidc` alone requests for links are refused with 403; links of invitations and of the command line still work.',
      see: 'how-to/sign-in-with-openid-connect.md',
    },
    OIDC_PROVIDERS_FILE: {
      ...none,
      text: 'Path of a JSON or YAML file: a map of provider id to [OpenID Connect provider](openid-providers.md), in the order of the login page.',
      see: 'how-to/sign-in-with-openid-connect.md',
    },
    SIGN_UP: {
      default: 'open',
      text: '`open`: any address may register. `invited`: only `ADMIN_EMAILS` and invited addresses may register.',
      see: 'how-to/control-sign-up.md',
    },
    ALLOWED_EMAIL_DOMAINS: {
      ...inWords('any'),
      text: 'Domains whose addresses may register, separated by commas: `example.org`, or `*.example.org` for all its subdomains. Existing accounts, `ADMIN_EMAILS` and invitations are not affected.',
      see: 'how-to/control-sign-up.md',
    },
    ADMIN_EMAILS: {
      ...none,
      text: 'Addresses, separated by commas, that become administrators when they sign up. The first user is an administrator in any case.',
    },
    JWT_ACCESS_TOKEN_EXPIRES: {
      default: '3600',
      text: 'Lifetime of an access token in seconds. No token lives longer than `SESSION_IDLE`, or past the end of its session.',
      see: 'how-to/set-how-long-sessions-last.md',
    },
    SESSION_IDLE: {
      default: '1209600',
      text: 'Seconds without a request after which a sign-in in a browser ends (14 days). `0`: it ends with its access token, and nothing renews it.',
      see: 'how-to/set-how-long-sessions-last.md',
    },
    SESSION_MAX: {
      default: '7776000',
      text: 'Seconds after which a sign-in in a browser ends although it is used (90 days).',
      see: 'how-to/set-how-long-sessions-last.md',
    },
    MAGIC_LINK_TOKEN_EXPIRY: {
      default: '900',
      text: 'Lifetime of a login or signup link in seconds.',
      see: 'how-to/diagnose-late-mail.md',
    },
    INVITATION_EXPIRY: {
      default: '604800',
      text: 'Lifetime of the link of an invitation in seconds.',
      see: 'how-to/control-sign-up.md',
    },
    MAGIC_LINK_RATE_LIMIT: { default: '3', text: 'Max links per e-mail address in a sliding hour.' },
    MAILBOX_RATE_LIMIT: {
      ...inWords('`100`, or ten times `MAGIC_LINK_RATE_LIMIT` if that is more'),
      text: 'Max links per mailbox in a sliding hour, at least `MAGIC_LINK_RATE_LIMIT`. Addresses that differ only in their plus tag (`ann+one@`, `ann+two@`) are two accounts and one mailbox.',
    },
    ENUMERATION_STRICT: {
      default: '0',
      text: '`1`: login also answers 429 for addresses without an account, so that the rate limit does not reveal which addresses have one. `0`: these addresses always get 200, as specified.',
    },
    REQUESTS_PER_MINUTE: {
      default: '600',
      text: 'Max requests per minute from one network address (IPv6: one /64) to sign-up, login, verification and similar endpoints that lead to no sign-in; requests for links, sign-ins by a provider and renewals of sessions are counted separately. One mailbox, and one browser in which a user signed in before, get a sixtieth of it, at least five. Programs on the same machine are exempt; a proxy there, or one in `TRUSTED_PROXIES`, is not. `0`: no limit.',
    },
    NEW_ADDRESSES_PER_HOUR: {
      default: '1000',
      text: 'Max addresses without an account per hour to which one network address (IPv6: one /64) may have a link mailed; five times as many in total. Above it the answer is the same and no mail is sent; the page System and the log report it. Addresses of `ALLOWED_EMAIL_DOMAINS` and `ADMIN_EMAILS`, invited addresses and programs on the same machine are exempt.',
    },
  },
  Mail: {
    SMTP_URL: {
      ...none,
      isSecret: true,
      text: '`smtp://` or `smtps://user:password@host:port`. Without it mails are written to `DATA_DIR/outbox` and their links to the log.',
      see: 'how-to/send-mail.md',
    },
    SMTP_TLS: {
      ...inWords('`required`, except for a server on the loopback interface'),
      text: 'For an `smtp://` server. `required`: no mail is sent without TLS (STARTTLS, with a certificate that this machine trusts). `opportunistic`: TLS is used if it is offered, with any certificate; an attacker on the network path can hide the offer, or answer in place of the server.',
      see: 'how-to/send-mail.md',
    },
    SMTP_HELO_NAME: {
      ...inWords('the host of `FRONTEND_URL`, or else of the public address'),
      text: 'Name by which Berth introduces itself to the mail server (`EHLO`). Strict servers want one that is in DNS and leads back to the address that Berth connects from.',
      see: 'how-to/send-mail.md',
    },
    MAIL_FROM: {
      ...inWords('`berth@{domain}`'),
      text: 'Sender of the mails: an address, or a name and an address as in `Berth <berth@example.org>`.',
    },
  },
} as const satisfies SettingGroups

/** Settings of the engine, of launches, sharing and retention, and of logs and metrics. */
const operationSettings = {
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

/** Settings by subject, in the order of the page. `readConfig` reads these and no others. */
export const settingGroups = {
  ...baseSettings,
  ...accountSettings,
  ...operationSettings,
} as const satisfies SettingGroups

type Groups = typeof settingGroups

/** Name of a setting. A setting that is not described here cannot be read: `readConfig` does not compile. */
export type SettingName = { [G in keyof Groups]: keyof Groups[G] }[keyof Groups] & string

/** Settings that can be given by a file, in the order of the page. */
export const secretSettings: readonly string[] = Object.values<Readonly<Record<string, SettingDescription>>>(
  settingGroups,
).flatMap((group) => Object.keys(group).filter((name) => group[name]?.isSecret))
