import path from 'node:path'
import type { FollowedPath } from '#/templates/replaceable-paths.ts'
import * as kinds from './setting-values.ts'

/** Seconds. */
const day = 86_400
const year = 365 * day

/** Limit of the limit of links of a mailbox: ten times that of an address. */
export const maxLinkLimit = 10_000_000_000

/** The setting counts when another one is set. */
const isSet = (setting: string) => ({
  settings: [setting],
  are: (value: string) => value !== '',
  otherwise: `${setting} is not set`,
})

/** The setting counts when another one, which is off by default, is on. */
const isOn = (setting: string, otherwise = `${setting} is off`) => ({
  settings: [setting],
  are: (value: string) => value !== '' && value !== 'off',
  otherwise,
})

const hasTraces = isSet('OTEL_EXPORTER_OTLP_ENDPOINT')

const docker = {
  settings: ['ENGINE'],
  are: (engine: string) => engine !== 'kubernetes',
  otherwise: 'ENGINE is kubernetes, which gives GPUs away itself',
}

const kubernetes = {
  settings: ['ENGINE'],
  are: (engine: string) => engine === 'kubernetes',
  otherwise: 'ENGINE is not kubernetes',
}

/**
 * Settings by subject, in the order of docs/reference/settings.md: each row has type, limits, default and words of one
 * setting, whether a reload takes it, and what else depends on its name. A setting that has no row cannot be read.
 */
export const settingGroups = {
  'Listener, data and addresses': {
    HOST: kinds.bindAddress({ default: '127.0.0.1', reload: false, text: 'Address that the listener binds to.' }),
    PORT: kinds.port({
      default: 8_080,
      min: 0,
      reload: false,
      text: 'Port of the listener. `0` picks a free port and prints it.',
    }),
    DATA_DIR: kinds.folder({
      default: './data',
      reload: false,
      opens: 'private',
      text: 'Folder of the embedded database, the signing keys (mode 0600) and the mail outbox. With SQLite on a local disk: on NFS, SMB or 9p the database can be damaged, and Berth warns.',
    }),
    DATABASE_URL: kinds.databaseUrl({
      usually: 'SQLite in `DATA_DIR`',
      reload: false,
      isSecret: true,
      text: '`postgres://user:password@host/database` uses PostgreSQL instead of SQLite. One Berth uses a database; a second one refuses to start, unless both have a `NODE_ADDRESS`. A pooler has to keep sessions. It names one host: after a failover of the database that address leads to the other server. `?sslmode=verify-full` encrypts.',
      see: 'how-to/use-postgresql.md',
    }),
    DRAIN_TIME: kinds.seconds({
      default: 0,
      min: 0,
      max: 300,
      text: 'Time for which Berth goes on serving after a signal to stop while `/readyz` answers 503, so that a load balancer sends requests elsewhere before connections are refused. Longer than it takes to notice.',
      see: 'how-to/run-several-nodes.md',
    }),
    NODE_ADDRESS: kinds.nodeAddress({
      reload: false,
      text: 'Address at which the other nodes of this installation reach this one. With it several nodes run on one PostgreSQL database, of which one leads. Needs `DATABASE_URL`; give all nodes the same `BASE_DOMAIN` and `SMTP_URL` (without it each link is in outbox and log of the node that leads). Not set: this is the only node.',
      see: 'how-to/run-several-nodes.md',
    }),
    NODE_SECRET: kinds.nodeSecret({
      reload: false,
      countsWith: isSet('NODE_ADDRESS'),
      isSecret: true,
      text: 'The same on all nodes. It encrypts the keys in the database, by which tokens are signed and the nodes know each other. Not set: a copy of the database opens them, and a warning says so.',
      see: 'how-to/run-several-nodes.md',
    }),
    BASE_DOMAIN: kinds.domain({
      usually: '`berth.localhost:{PORT}`',
      text: "Base domain of all hosts. It may carry a port, which the cookie's `Domain` attribute drops.",
    }),
    SPAWNER_SUBDOMAIN: kinds.subdomain({
      default: 'spawner',
      isEmptyAValue: true,
      text: 'Subdomain in front of the base domain. An empty value uses the base domain itself.',
    }),
    CONTAINER_ROUTING: kinds.choice(
      'path',
      'subdomain',
    )({
      default: 'path',
      text: '`path`: containers are below paths of the spawner host, with one origin for all. `subdomain`: each container has a host of its own, `{slug}-{type}.{spawner host}`; it needs a wildcard record in DNS and a wildcard certificate.',
      see: 'how-to/give-containers-their-own-hosts.md',
    }),
    PREFERRED_URL_SCHEME: kinds.choice(
      'http',
      'https',
    )({
      default: 'http',
      text: 'Scheme of generated addresses. With `https` the cookie is `Secure`.',
      see: 'how-to/use-a-reverse-proxy.md',
    }),
    TLS_CERT_FILE: kinds.file({
      reload: false,
      opens: 'shared',
      text: 'File of the certificate chain (PEM) for TLS in Berth itself, without a proxy; needs `TLS_KEY_FILE` and `PREFERRED_URL_SCHEME=https`. Both files are read again within seconds when they change.',
      see: 'how-to/use-tls-without-a-proxy.md',
    }),
    TLS_KEY_FILE: kinds.file({
      reload: false,
      opens: 'shared',
      text: 'File of the private key (PEM) of the certificate, which accounts other than its owner and group cannot read.',
      see: 'how-to/use-tls-without-a-proxy.md',
    }),
    HTTP_REDIRECT_PORT: kinds.port({
      min: 1,
      reload: false,
      text: 'With TLS in Berth: port, usually `80`, on which every request is redirected to `https`.',
      see: 'how-to/use-tls-without-a-proxy.md',
    }),
    HSTS_MAX_AGE: kinds.seconds({
      default: 31_536_000,
      min: 0,
      max: 2 * year,
      countsWith: {
        settings: ['TLS_CERT_FILE'],
        are: (file) => file !== '',
        otherwise: 'without TLS_CERT_FILE the proxy in front sends Strict-Transport-Security, or none',
      },
      text: 'With TLS in Berth: time for which browsers use `https` only for this host (`Strict-Transport-Security`). `0`: not sent.',
      see: 'how-to/use-tls-without-a-proxy.md',
    }),
    FRONTEND_URL: kinds.webUrl({
      usually: '`{scheme}://{subdomain}.{domain}`',
      text: 'Address of the front end in the links of mails.',
    }),
    TRUSTED_PROXIES: kinds.networks({
      text: 'Addresses and networks whose `X-Forwarded-For` header is trusted.',
      see: 'how-to/use-a-reverse-proxy.md',
    }),
    SUPPORT_CONTACT: kinds.contact({
      text: 'Contact for help, shown on every page: an e-mail address, an `http(s)` URL, or text such as `room 12, telephone 34`.',
    }),
    SECURITY_CONTACT: kinds.securityContact({
      text: 'Where people report a fault of security. With it `/.well-known/security.txt` (RFC 9116) names it.',
    }),
    BRANDING_FILE: kinds.file({
      opens: 'shared',
      text: "Path of a YAML or JSON file with the installation's own [look](branding.md): name, logo, colours, imprint, privacy notice, notices. The file, and those that it names, are read at the start and at SIGHUP.",
      see: 'how-to/brand-an-installation.md',
    }),
  },
  'Container templates': {
    CONTAINER_TEMPLATES: kinds.catalogueOrMap({
      usually: 'the demo types `dev` and `prod`',
      text: 'Names of the [catalogue](catalogue.md), separated by commas, such as `code-server,jupyterlab`; or JSON text: a map of container type to [template](templates.md), in the order of the dashboard. A value of only letters, digits, `-`, `_`, commas and spaces is a list of names.',
    }),
    CONTAINER_TEMPLATES_FILE: kinds.file({
      opens: 'shared',
      text: 'Path of a JSON or YAML file with the same map. Set this or `CONTAINER_TEMPLATES`, not both.',
    }),
    USER_TEMPLATE_IMAGE_DEV: kinds.image({ default: 'berth-demo-dev:latest', text: 'Image of the demo type `dev`.' }),
    USER_TEMPLATE_IMAGE_PROD: kinds.image({
      default: 'berth-demo-prod:latest',
      text: 'Image of the demo type `prod`.',
    }),
  },
  'Accounts and links': {
    SIGN_IN: kinds.waysToSignIn({
      default: 'link,oidc',
      text: 'What the login page offers: `link` (mailed links), `oidc` (the providers of `OIDC_PROVIDERS_FILE`), or both. With `oidc` alone requests for links are refused with 403; links of invitations and of the command line still work.',
      see: 'how-to/sign-in-with-openid-connect.md',
    }),
    OIDC_PROVIDERS_FILE: kinds.file({
      opens: 'shared',
      text: 'Path of a JSON or YAML file: a map of provider id to [OpenID Connect provider](openid-providers.md), in the order of the login page.',
      see: 'how-to/sign-in-with-openid-connect.md',
    }),
    SIGN_UP: kinds.choice(
      'open',
      'invited',
    )({
      default: 'open',
      text: '`open`: any address may register. `invited`: only `ADMIN_EMAILS` and invited addresses may register.',
      see: 'how-to/control-sign-up.md',
    }),
    ALLOWED_EMAIL_DOMAINS: kinds.emailDomains({
      usually: 'any',
      text: 'Domains whose addresses may register: `example.org`, or `*.example.org` for all its subdomains. Existing accounts, `ADMIN_EMAILS` and invitations are not affected.',
      see: 'how-to/control-sign-up.md',
    }),
    ADMIN_EMAILS: kinds.emailAddresses({
      text: 'Addresses that become administrators when they sign up. The first user is an administrator in any case.',
    }),
    JWT_ACCESS_TOKEN_EXPIRES: kinds.seconds({
      default: 3_600,
      min: 1,
      max: year,
      text: 'Lifetime of an access token. No token lives longer than `SESSION_IDLE`, or past the end of its session.',
      see: 'how-to/set-how-long-sessions-last.md',
    }),
    SESSION_IDLE: kinds.seconds({
      default: 1_209_600,
      min: 0,
      max: 10 * year,
      text: 'Time without a request after which a sign-in in a browser ends (14 days). `0`: it ends with its access token, and nothing renews it.',
      see: 'how-to/set-how-long-sessions-last.md',
    }),
    SESSION_MAX: kinds.seconds({
      default: 7_776_000,
      min: 1,
      max: 10 * year,
      text: 'Time after which a sign-in in a browser ends although it is used (90 days).',
      see: 'how-to/set-how-long-sessions-last.md',
    }),
    MAGIC_LINK_TOKEN_EXPIRY: kinds.seconds({
      default: 900,
      min: 1,
      max: 30 * day,
      text: 'Lifetime of a login or signup link.',
      see: 'how-to/diagnose-late-mail.md',
    }),
    INVITATION_EXPIRY: kinds.seconds({
      default: 604_800,
      min: 1,
      max: year,
      text: 'Lifetime of the link of an invitation.',
      see: 'how-to/control-sign-up.md',
    }),
    MAGIC_LINK_RATE_LIMIT: kinds.count({
      default: 3,
      min: 1,
      max: 1_000_000_000,
      text: 'Max links per e-mail address in a sliding hour.',
    }),
    MAILBOX_RATE_LIMIT: kinds.count({
      usually: '`100`, or ten times `MAGIC_LINK_RATE_LIMIT` if that is more',
      min: 1,
      max: maxLinkLimit,
      text: 'Max links per mailbox in a sliding hour, at least `MAGIC_LINK_RATE_LIMIT`. Addresses that differ only in their plus tag (`ann+one@`, `ann+two@`) are two accounts and one mailbox.',
    }),
    ENUMERATION_STRICT: kinds.flag({
      default: 0,
      text: '`1`: login also answers 429 for addresses without an account, so that the rate limit does not reveal which addresses have one. `0`: these addresses always get 200, as specified.',
    }),
    REQUESTS_PER_MINUTE: kinds.count({
      default: 600,
      min: 0,
      max: 1_000_000,
      text: 'Max requests per minute from one network address (IPv6: one /64) to sign-up, login, verification and similar endpoints that lead to no sign-in; requests for links, sign-ins by a provider and renewals of sessions are counted separately. One mailbox, and one browser in which a user signed in before, get a sixtieth of it, at least five. Programs on the same machine are exempt; a proxy there, or one in `TRUSTED_PROXIES`, is not. `0`: no limit.',
    }),
    NEW_ADDRESSES_PER_HOUR: kinds.count({
      default: 1_000,
      min: 1,
      max: 1_000_000,
      text: 'Max addresses without an account per hour to which one network address (IPv6: one /64) may have a link mailed; five times as many in total. Above it the answer is the same and no mail is sent; the page System and the log report it. Addresses of `ALLOWED_EMAIL_DOMAINS` and `ADMIN_EMAILS`, invited addresses and programs on the same machine are exempt.',
    }),
  },
  Mail: {
    SMTP_URL: kinds.mailServer({
      isSecret: true,
      text: '`smtp://` or `smtps://user:password@host:port`. Without it mails are written to `DATA_DIR/outbox` and their links to the log.',
      see: 'how-to/send-mail.md',
    }),
    SMTP_TLS: kinds.choice(
      'required',
      'opportunistic',
    )({
      usually: '`required`, except for a server on the loopback interface',
      countsWith: isSet('SMTP_URL'),
      text: 'For an `smtp://` server. `required`: no mail is sent without TLS (STARTTLS, with a certificate that this machine trusts). `opportunistic`: TLS is used if it is offered, with any certificate; an attacker on the network path can hide the offer, or answer in place of the server.',
      see: 'how-to/send-mail.md',
    }),
    SMTP_HELO_NAME: kinds.heloName({
      usually: 'the host of `FRONTEND_URL`, or else of the public address',
      countsWith: isSet('SMTP_URL'),
      text: 'Name by which Berth introduces itself to the mail server (`EHLO`). Strict servers want one that is in DNS and leads back to the address that Berth connects from.',
      see: 'how-to/send-mail.md',
    }),
    MAIL_FROM: kinds.sender({
      usually: '`berth@{domain}`',
      text: 'Sender of the mails: an address, or a name and an address as in `Berth <berth@example.org>`.',
    }),
  },
  'Engine and launches': {
    ENGINE: kinds.choice(
      'docker',
      'kubernetes',
    )({
      default: 'docker',
      reload: false,
      text: 'Where containers run: `docker`, or `kubernetes`: pods of a cluster.',
      see: 'how-to/run-on-kubernetes.md',
    }),
    KUBECONFIG: kinds.kubeconfig({
      usually: 'the service account of the pod that Berth runs in',
      reload: false,
      text: 'File with address and credentials of the cluster, with `ENGINE=kubernetes`; its current context counts.',
      see: 'how-to/run-on-kubernetes.md',
    }),
    KUBERNETES_NAMESPACE: kinds.namespace({
      usually: "the context's",
      reload: false,
      countsWith: kubernetes,
      text: 'Namespace of pods and claims.',
      see: 'how-to/run-on-kubernetes.md',
    }),
    KUBERNETES_STORAGE_CLASS: kinds.storageClass({
      usually: "the cluster's default",
      reload: false,
      countsWith: kubernetes,
      text: 'Storage class of homes.',
      see: 'how-to/run-on-kubernetes.md',
    }),
    KUBERNETES_HELPER_IMAGE: kinds.helperImage({
      reload: false,
      countsWith: kubernetes,
      text: 'Image with `sh`, `tar`, `stat`, `cat` and `readlink`, such as busybox, for pods that read and write homes: starter files, snapshots and backups of homes. It needs rights for `pods/exec`.',
      see: 'how-to/run-on-kubernetes.md',
    }),
    KUBERNETES_TOOL_IMAGE: kinds.helperImage({
      reload: false,
      countsWith: kubernetes,
      text: 'Image that has `berth-tool` in its `PATH`, as the image of Berth does: with `SSH_LISTEN` it brings into each pod what SSH needs there. It needs rights for `pods/exec`.',
      see: 'how-to/offer-ssh.md',
    }),
    DOCKER_HOST: kinds.dockerHost({
      usually: 'detected',
      reload: false,
      opens: 'shared',
      text: "The engine's socket.",
    }),
    SECRETS_DIR: kinds.absolutePath({
      opens: 'shared',
      text: 'Folder with the files of `secrets` of templates.',
      see: 'how-to/mount-data-and-secrets.md',
    }),
    ALLOWED_MOUNT_ROOTS: kinds.absolutePaths({
      text: 'Folders of the host below which templates may mount (`mounts`).',
      see: 'how-to/mount-data-and-secrets.md',
    }),
    OPEN_GIT_HOSTS: kinds.hosts({
      text: 'Hosts of Git repositories whose files links may put into homes (`/open/{type}/{path}?git=`), such as `github.com,git.example.org:8443`. Without it no such link works.',
      see: 'how-to/give-one-link-to-a-class.md',
    }),
    TZ: kinds.timeZoneName({
      usually: "the machine's time zone",
      text: 'Time zone such as `Europe/Berlin`, of template fields (`stop_at`, `prestart_at`), hours of groups, notices and days of use that name none.',
    }),
    HOST_RULES: kinds.choice(
      'auto',
      'off',
    )({
      default: 'auto',
      text: '`auto`: Berth sets firewall rules that keep containers away from the host, if it is permitted to. `off`: it sets none.',
      see: 'how-to/set-host-rules.md',
    }),
    LAUNCH_TIMEOUT: kinds.seconds({
      default: 180,
      min: 1,
      max: 3_600,
      text: 'Longest time that a launch request waits. After that it is answered with 500 and its position; the launch itself continues.',
    }),
    LAUNCH_PARALLEL: kinds.count({
      default: 4,
      min: 1,
      max: 64,
      text: 'Max container creations and starts that the engine handles at the same time.',
    }),
    MAX_RUNNING: kinds.count({
      min: 1,
      max: 1_000_000,
      text: 'Max containers that run at the same time, of all users. Paused containers count.',
      see: 'how-to/plan-capacity.md',
    }),
    MAX_PER_USER: kinds.count({
      min: 1,
      max: 1_000,
      text: 'Max containers that run at the same time, of one user. Paused containers count.',
    }),
    GPU_IDS: kinds.gpuIds({
      countsWith: docker,
      text: 'GPUs of the machine that the engine runs on, such as `0,1,2,3`, or by `GPU-` or `MIG-` and their UUID as `nvidia-smi -L` prints them. Each belongs to one container at a time, and launches wait while all are taken. Without it every container with `gpus` gets the first ones.',
      see: 'how-to/share-gpus.md',
    }),
    GPU_WAIT: kinds.seconds({
      default: 3_600,
      min: 1,
      max: 604_800,
      countsWith: isSet('GPU_IDS'),
      text: 'Longest time that a launch waits for GPUs. Its owner may stop it before.',
      see: 'how-to/share-gpus.md',
    }),
  },
  'Shared containers': {
    SHARING: kinds.sharingPartners({
      default: 'off',
      text: '`people`: users may share their containers with others, by e-mail address. `groups`: with groups that they are in. `people,groups`: both. `off`: not at all; shares from before open nothing.',
      see: 'how-to/share-containers.md',
    }),
    SHARE_MAX_DURATION: kinds.seconds({
      default: 2_592_000,
      min: 60,
      max: year,
      countsWith: isOn('SHARING'),
      text: 'Time that a share may last.',
      see: 'how-to/share-containers.md',
    }),
  },
  Environments: {
    ENVIRONMENTS: kinds.choice(
      'off',
      'admins',
      'managers',
    )({
      default: 'off',
      text: '`admins`: administrators build images in Berth, which templates use as `environment`. `managers`: managers of groups build for the types of their groups, too. `off`: there are none.',
      see: 'how-to/build-environments.md',
    }),
    BUILD_BASES: kinds.imageNames({
      usually: "images of the templates that the group's members may launch",
      countsWith: isOn('ENVIRONMENTS'),
      text: 'Images that managers may build on, such as `python:*,quay.io/course/base`; `*` at the end stands for every continuation. Administrators build on any image.',
      see: 'how-to/build-environments.md',
    }),
    BUILD_GIT_HOSTS: kinds.hostNames({
      countsWith: isOn('ENVIRONMENTS'),
      text: 'Hosts of Git repositories that managers may build from, such as `github.com,git.example.org:8443`. Berth itself fetches them, with what the network lets it reach. Administrators name any host.',
      see: 'how-to/build-environments.md',
    }),
    BUILD_PARALLEL: kinds.count({
      default: 1,
      min: 1,
      max: 16,
      countsWith: isOn('ENVIRONMENTS'),
      text: 'Max builds at the same time. The others wait.',
      see: 'how-to/build-environments.md',
    }),
    BUILD_TIMEOUT: kinds.seconds({
      default: 1_800,
      min: 1,
      max: day,
      countsWith: isOn('ENVIRONMENTS'),
      text: 'Time that a build may take, without the wait for its turn.',
      see: 'how-to/build-environments.md',
    }),
    BUILD_MEMORY: kinds.bytes({
      default: '2g',
      countsWith: isOn('ENVIRONMENTS'),
      text: 'Memory of each step of a build, such as `4g`.',
      see: 'how-to/build-environments.md',
    }),
    BUILD_CPUS: kinds.coreCount({
      default: '1',
      countsWith: isOn('ENVIRONMENTS'),
      text: 'Cores of each step of a build, such as `1.5`.',
      see: 'how-to/build-environments.md',
    }),
    BUILD_MAX_SIZE: kinds.bytes({
      default: '10g',
      countsWith: isOn('ENVIRONMENTS'),
      text: 'Size of an image, and of what one step of its build writes. A build that exceeds it fails.',
      see: 'how-to/build-environments.md',
    }),
  },
  'Disk and retention': {
    SNAPSHOTS: kinds.choice(
      'on',
      'off',
    )({
      default: 'off',
      text: '`on`: users make snapshots of their homes and restore them, and one is made before a container gets another image. They are archives in `DATA_DIR`, which needs the room.',
      see: 'how-to/keep-snapshots-of-homes.md',
    }),
    SNAPSHOT_MAX_SIZE: kinds.bytes({
      default: '4g',
      countsWith: isOn('SNAPSHOTS'),
      text: 'Homes with more bytes than that, such as `512m`, get no snapshots.',
      see: 'how-to/keep-snapshots-of-homes.md',
    }),
    MAX_DISK_PER_USER: kinds.bytes({
      text: 'Max size, such as `10g`, of all homes of one user. At nine tenths of it the user is warned. At the limit only the container with the largest home still starts, up to a quarter above the limit.',
      see: 'how-to/limit-disk-use.md',
    }),
    ARCHIVE_DIR: kinds.absolutePath({
      usually: '`archives` in `DATA_DIR`',
      opens: 'private',
      text: 'Folder of archives of homes, which are made at the end of a term. Several nodes need one that all of them share.',
      see: 'how-to/end-a-term.md',
    }),
    KEEP_HOMES: kinds.seconds({
      default: 2_592_000,
      min: 0,
      max: 10 * year,
      text: 'Time for which the homes of a deleted user are kept.',
      see: 'how-to/delete-users.md',
    }),
    KEEP_IMAGES: kinds.seconds({
      default: 0,
      min: 0,
      max: 10 * year,
      text: 'Time for which an image that Berth pulled is kept once no template names it. It goes when no container has it, of this or another program. Not with `ENGINE=kubernetes`, whose nodes do this. 0: images that were pulled stay.',
      see: 'how-to/build-environments.md',
    }),
    KEEP_AUDIT_ADDRESSES: kinds.seconds({
      default: 7_776_000,
      min: 0,
      max: 10 * year,
      text: 'Time for which the audit log keeps network addresses, and e-mail addresses of accounts that were deleted or invited to a group. The entries stay, and the log stays verifiable.',
      see: 'how-to/keep-a-record-of-processing.md',
    }),
    KEEP_TAKEOVERS: kinds.seconds({
      default: 2_592_000,
      min: 0,
      max: 10 * year,
      text: 'Time for which users see that an administrator acted for them, with administrator and reason. The audit log has it, too.',
      see: 'how-to/keep-a-record-of-processing.md',
    }),
    KEEP_USAGE_DAYS: kinds.days({
      default: 30,
      min: 0,
      max: 3_660,
      text: 'Time for which sums of use are kept by day: hours running and in use of users, groups and types, and nothing of what they did. `0` here and for months: no use is recorded.',
      see: 'how-to/see-how-berth-is-used.md',
    }),
    KEEP_USAGE_MONTHS: kinds.months({
      default: 24,
      min: 0,
      max: 1_200,
      text: 'Time for which the same sums are kept by month.',
      see: 'how-to/see-how-berth-is-used.md',
    }),
    MEASURE_USAGE: kinds.seconds({
      default: 0,
      isZeroToo: true,
      min: 60,
      max: day,
      countsWith: {
        settings: ['KEEP_USAGE_DAYS', 'KEEP_USAGE_MONTHS'],
        are: (days, months) => days !== '0' || months !== '0',
        otherwise: 'KEEP_USAGE_DAYS and KEEP_USAGE_MONTHS are 0, and no use is recorded',
      },
      text: 'Time between two measurements of the CPU time and the memory that containers take, such as `300`; homes are measured once an hour then. The sums of use have them, too. `0`: nothing is measured.',
      see: 'how-to/see-how-berth-is-used.md',
    }),
    FETCH_IMAGES: kinds.choice(
      'all',
      'prestart',
    )({
      default: 'all',
      text: '`all`: images of all templates that the engine does not have are fetched when Berth starts and when templates change, one at a time, so that no first launch waits for one; what cannot be fetched is tried again after 1 minute, and then ever more rarely. `prestart`: only those of templates with `prestart` or `prestart_at`.',
      see: 'how-to/open-containers-faster.md',
    }),
    RETIRE_AFTER: kinds.seconds({
      default: 1_209_600,
      min: 0,
      max: 10 * year,
      text: 'Time after which an unused stopped container is removed from the engine. Its home stays, and the next launch or visit creates the container again. `0`: never.',
      see: 'how-to/retire-unused-containers.md',
    }),
  },
  'Logs and metrics': {
    LOG_LEVEL: kinds.choice(
      'trace',
      'debug',
      'info',
      'warn',
      'error',
      'fatal',
      'silent',
    )({
      default: 'info',
      text: 'Lines of this level and above are logged. Without `SMTP_URL` the links of mails are logged at every level but `silent`.',
    }),
    ACCESS_LOG: kinds.choice(
      'off',
      'common',
      'json',
    )({
      default: 'off',
      text: '`off`, `common` (Common Log Format) or `json`: one line for each request to containers, API and pages. Queries, headers and long segments of paths are not written.',
      see: 'how-to/keep-an-access-log.md',
    }),
    ACCESS_LOG_FILE: kinds.file({
      usually: 'standard output',
      opens: 'shared',
      countsWith: isOn('ACCESS_LOG', 'ACCESS_LOG is off, and no request is logged'),
      text: 'File of the access log; lines are added. `SIGUSR2` opens it anew.',
      see: 'how-to/keep-an-access-log.md',
    }),
    OTEL_EXPORTER_OTLP_ENDPOINT: kinds.webUrl({
      text: 'Receiver of OpenTelemetry traces, such as `http://127.0.0.1:4318`: spans are sent to `/v1/traces` below it, as OTLP over HTTP with JSON. Without this setting there are no traces.',
      see: 'how-to/send-traces.md',
    }),
    OTEL_EXPORTER_OTLP_HEADERS: kinds.headerPairs({
      isSecret: true,
      countsWith: hasTraces,
      text: 'Headers of each request to the receiver.',
      see: 'how-to/send-traces.md',
    }),
    OTEL_SERVICE_NAME: kinds.serviceName({
      default: 'berth',
      countsWith: hasTraces,
      text: 'Name of the service in traces.',
      see: 'how-to/send-traces.md',
    }),
    OTEL_TRACES_SAMPLER_ARG: kinds.ratio({
      default: '1',
      countsWith: hasTraces,
      text: 'Part of the traces that is sent. A request with a `traceparent` is sent if that says it is sampled.',
      see: 'how-to/send-traces.md',
    }),
    METRICS_TOKEN: kinds.bearer({
      isSecret: true,
      text: 'Bearer token that `/metrics` requires (403 without it). Without this setting only programs on the same machine may read the metrics, and no proxy.',
      see: 'how-to/monitor.md',
    }),
    METRICS_LISTEN: kinds.listenAddress({
      text: 'Address of a listener that serves `/metrics` only. The public listener then answers 404.',
      see: 'how-to/monitor.md',
    }),
    SSH_LISTEN: kinds.listenAddress({
      text: 'Address of the SSH server, by which people reach their own containers: `ssh {slug}-{type}@host`. Without this setting there is none.',
      see: 'how-to/offer-ssh.md',
    }),
    AUDIT_WEBHOOK_URL: kinds.webhookUrl({
      isSecret: true,
      text: 'Address to which every entry of the audit log is sent as a signed message (Standard Webhooks): `https://`, or `http://` at a loopback address. Needs `AUDIT_WEBHOOK_SECRET`.',
      see: 'how-to/send-audit-entries.md',
    }),
    AUDIT_WEBHOOK_SECRET: kinds.webhookSecrets({
      isSecret: true,
      text: 'Secret of the signatures. Several sign each message once each while a receiver changes its secret.',
      see: 'how-to/send-audit-entries.md',
    }),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, kinds.Setting>>>>

type Groups = typeof settingGroups
type Rows = { [G in keyof Groups]: (rows: Groups[G]) => void }[keyof Groups] extends (rows: infer All) => void
  ? All
  : never

/** Name of a setting. */
export type SettingName = { [G in keyof Groups]: keyof Groups[G] }[keyof Groups] & string

/** What is read of a setting. */
export type ValueOf<Name extends SettingName> = Rows[Name] extends kinds.Setting<infer Value> ? Value : never

/** Every row by the name of its setting, in the order of the page. */
export const settings: ReadonlyMap<string, kinds.Setting> = new Map(
  Object.values<Readonly<Record<string, kinds.Setting>>>(settingGroups).flatMap((group) => Object.entries(group)),
)

const namesWhere = (isOne: (row: kinds.Setting) => boolean): readonly string[] =>
  [...settings].filter(([, row]) => isOne(row)).map(([name]) => name)

/** Settings that can be given by a file. */
export const secretSettings = namesWhere(({ isSecret }) => isSecret === true)

/** Settings that a hot reload does not change. */
export const needRestart = namesWhere(({ reload }) => reload === false)

/** What settings name that Berth opens, for the check that no container may replace it. */
export function followedPaths(env: Readonly<Record<string, string | undefined>>): FollowedPath[] {
  const opened = [...settings].flatMap(([setting, { opens, default: usual }]) => {
    const given = env[setting]?.trim() || usual
    const named = given?.replace(/^unix:\/\//, '')
    const isPath = opens !== undefined && named !== undefined && !named.includes('://')
    return isPath ? [{ setting, path: path.resolve(named), isPrivate: opens === 'private' }] : []
  })
  return [...opened, { setting: 'the file of settings', path: path.resolve('berth.env'), isPrivate: false }]
}

/** Values of settings: each is read and checked once, when it is first asked for. */
export class SettingReader {
  /** What is wrong with the settings, each a sentence that names its variable. */
  readonly problems: string[] = []
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #values = new Map<SettingName, unknown>()

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env
  }

  /** The text of a setting; null when it is not set, which an empty text counts as unless it is a value. */
  given(name: SettingName): string | null {
    const text = this.#env[name]?.trim() ?? null
    return text === '' && !settings.get(name)?.isEmptyAValue ? null : text
  }

  /** The value of a setting, or its default when it is not set. A wrong one becomes a problem; its default is returned. */
  value<Name extends SettingName>(name: Name): ValueOf<Name> {
    if (!this.#values.has(name)) this.#values.set(name, this.#read(name))
    return this.#values.get(name) as ValueOf<Name>
  }

  #read(name: SettingName): unknown {
    const row = settings.get(name)
    const text = this.given(name)
    const read = row && text !== null ? row.read(text) : null
    if (read instanceof kinds.Problem) this.problems.push(`${name}: ${read.words}`)
    if (read !== null && !(read instanceof kinds.Problem)) return read
    return row && row.default !== null ? row.read(row.default) : null
  }
}
