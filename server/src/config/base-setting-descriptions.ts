import { inWords, none, type SettingGroups } from './setting-description.ts'

/** Settings of the listener, of data and addresses, and of container templates. */
export const baseSettings = {
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
