/** What the settings or the surroundings switch off although nothing fails; each says what it means and what to set. */
export const findings = {
  nowhere: '{url} leads nowhere: IP addresses have no subdomains. Set SPAWNER_SUBDOMAIN= (empty).',
  plainHttp: 'Tokens travel over plain http to {url}. Put a TLS proxy in front and set PREFERRED_URL_SCHEME=https.',
  openListener:
    'HOST={host} answers other machines over plain http. Set HOST=127.0.0.1, or put a TLS proxy in front and set PREFERRED_URL_SCHEME=https.',
  certificateEnds: 'The certificate in {file} ends at {at}. Renew it; Berth uses the new one within seconds.',
  noWildcard:
    'The certificate in {file} is not for *.{host}, so browsers refuse every container. Get a wildcard certificate for {host} and *.{host}. See docs/how-to/give-containers-their-own-hosts.md.',
  sameApplicationSharesHome:
    'Types {types} are the same application and have home_of: user: both write its settings and databases in one home. Give all but one of them home_of: type. See docs/how-to/share-homes-and-folders.md.',
  unusableFileSystem:
    'The file system at {place} cannot be used ({reason}). What templates name in it was not checked, and launches that need it are refused until its file server answers. Then reload Berth, so that it is checked. See docs/how-to/share-homes-and-folders.md.',
  noTrustedProxy:
    'PREFERRED_URL_SCHEME=https means a TLS proxy in front, but TRUSTED_PROXIES names none: all clients count as one address. Set TRUSTED_PROXIES to the address of the proxy.',
  anyTrustedProxy:
    'TRUSTED_PROXIES={network} trusts the address that any client claims, so limits by address have no effect. Name your proxy alone.',
  untrustedProxy:
    'Requests with forwarding headers come from {addresses}, which TRUSTED_PROXIES does not name. If that is your reverse proxy, all clients behind it count as one address: set TRUSTED_PROXIES={first}. If you do not know the address, leave it out.',
  untrustedSender:
    'Requests with forwarding headers come from {addresses}, which TRUSTED_PROXIES does not name. Any client can send such headers: if you do not know the address, leave it out. If it is your reverse proxy, all clients behind it count as one address: name it in TRUSTED_PROXIES.',
  manyNewAddresses:
    'More addresses without an account asked for a link within an hour than NEW_ADDRESSES_PER_HOUR={limit} allows for one network address, or five times that for all: from {addresses}. They were answered as usual and got no mail. If they are your people, raise it, set ALLOWED_EMAIL_DOMAINS or invite them; if not, keep that address away.',
  noMailServer:
    'SMTP_URL is not set, so Berth at {url} sends no mail: links are only written to the outbox and the log. Set SMTP_URL.',
  outboxOfEachNode:
    'NODE_ADDRESS is set without SMTP_URL: no mail is sent, and each link is only in the outbox and the log of the node that leads at that moment. Set SMTP_URL on all nodes.',
  plainMail:
    'SMTP_TLS=opportunistic: mails with links that sign people in may go to {host} unencrypted. Leave SMTP_TLS out, unless the way there is private.',
  noNodeSecret:
    'NODE_ADDRESS is set without NODE_SECRET: a copy of the database opens the keys by which tokens are signed. Set NODE_SECRET on all nodes, e.g. from: openssl rand -base64 32',
  networkFileSystem:
    'The SQLite database is on a network file system ({fileSystem}): {folder}. Its locks and shared memory hold on one machine with a local disk; two processes, or a pause of the network, can damage it. Set DATA_DIR to a folder on a local disk, or DATABASE_URL.',
  groupsOfUsers:
    'Provider {provider}: at GitLab users make groups themselves, and the claim {claim} makes them members of the groups here that have the same names. Set member_groups to those that count.',
  noHostRules:
    'HOST_RULES=off: unless you have set them yourself, no rules keep containers away from this host and its cloud metadata.',
  noRequestLimit: 'REQUESTS_PER_MINUTE=0: one address may ask for links without limit. Set a number, such as 600.',
  noMemoryLimit:
    'The memory of {types} ({limit}) is as much as this machine has ({total}), so no limit keeps one container from taking all of it. Set a smaller memory in the template.',
  openMetrics:
    'METRICS_LISTEN={listen} answers other machines, and no METRICS_TOKEN is set: every client that reaches it reads the metrics. Set METRICS_TOKEN.',
  metricsUnreachable:
    'The metrics listener METRICS_LISTEN={listen} could not be started: {reason}. Berth retries every few seconds.',
  auditWebhookLags:
    'AUDIT_WEBHOOK_URL has not accepted entries of the audit log since {since}: {reason}. {count} are kept in the store and sent when it accepts them. See docs/how-to/send-audit-entries.md.',
  openVisitors:
    "{type}: access: {access} with sandbox_visitors: false opens each visitor's own containers to the owner of the container they visit, because all share one origin. Leave sandbox_visitors out, unless these people trust each other.",
  publicSandbox:
    '{type}: access: public shows its pages to visitors in a sandbox, without cookies, storage and WebSockets, because they would otherwise reach the visitors’ own containers. See docs/how-to/share-containers.md.',
  authenticatedSandbox:
    '{type}: access: authenticated shows its pages to visitors in a sandbox, and refuses whatever they load, because they would otherwise reach the visitors’ own containers. See docs/how-to/share-containers.md.',
  sshOnLoopback:
    'SSH_LISTEN={listen} is reached from this machine alone: a proxy for HTTP passes no SSH on. Listen on another address, such as 0.0.0.0:2222.',
  sshOnKubernetes:
    'SSH_LISTEN with ENGINE=kubernetes: nothing of Berth is in pods, so SSH reaches only containers whose image has its tool at /.berth/berth-tool. Set KUBERNETES_TOOL_IMAGE to the image of Berth, which brings it into each pod. See docs/how-to/offer-ssh.md.',
  sshDown: 'SSH_LISTEN: the SSH server does not listen: {problem}. It is tried again.',
} as const
