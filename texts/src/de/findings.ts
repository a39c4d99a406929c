import type { Translated } from '#/english.ts'

export const findings: Translated<'findings'> = {
  nowhere: '{url} führt nirgendwohin: IP-Adressen haben keine Subdomains. Setze SPAWNER_SUBDOMAIN= (leer).',
  plainHttp:
    'Tokens gehen unverschlüsselt (http) an {url}. Stelle einen TLS-Proxy davor und setze PREFERRED_URL_SCHEME=https.',
  openListener:
    'HOST={host} antwortet anderen Rechnern unverschlüsselt (http). Setze HOST=127.0.0.1, oder stelle einen TLS-Proxy davor und setze PREFERRED_URL_SCHEME=https.',
  certificateEnds:
    'Das Zertifikat in {file} läuft am {at} ab. Erneuere es; Berth verwendet das neue innerhalb von Sekunden.',
  noWildcard:
    'Das Zertifikat in {file} gilt nicht für *.{host}, deshalb weisen Browser jeden Container ab. Beschaffe ein Wildcard-Zertifikat für {host} und *.{host}. Siehe docs/how-to/give-containers-their-own-hosts.md.',
  sameApplicationSharesHome:
    'Die Typen {types} sind dieselbe Anwendung und haben home_of: user: Beide schreiben ihre Einstellungen und Datenbanken in ein Home. Gib allen bis auf einem home_of: type. Siehe docs/how-to/share-homes-and-folders.md.',
  unusableFileSystem:
    'Das Dateisystem unter {place} ist nicht benutzbar ({reason}). Was Templates darin nennen, wurde nicht geprüft, und Starts, die es brauchen, werden abgelehnt, bis sein Dateiserver antwortet. Lade Berth dann neu, damit es geprüft wird. Siehe docs/how-to/share-homes-and-folders.md.',
  noTrustedProxy:
    'PREFERRED_URL_SCHEME=https heißt, dass ein TLS-Proxy davor steht, aber TRUSTED_PROXIES nennt keinen: Alle zählen als eine Adresse. Setze TRUSTED_PROXIES auf die Adresse des Proxys.',
  anyTrustedProxy:
    'TRUSTED_PROXIES={network} vertraut der Adresse, die ein beliebiger Client angibt; Grenzen je Adresse wirken damit nicht. Nenne nur deinen Proxy.',
  untrustedProxy:
    'Anfragen mit Weiterleitungs-Headern kommen von {addresses}, was TRUSTED_PROXIES nicht nennt. Ist das dein Reverse-Proxy, zählen alle dahinter als eine Adresse: Setze TRUSTED_PROXIES={first}. Kennst du die Adresse nicht, lass sie weg.',
  untrustedSender:
    'Anfragen mit Weiterleitungs-Headern kommen von {addresses}, was TRUSTED_PROXIES nicht nennt. Solche Header kann jeder Client senden: Kennst du die Adresse nicht, lass sie weg. Ist es dein Reverse-Proxy, zählen alle dahinter als eine Adresse: Nenne ihn in TRUSTED_PROXIES.',
  manyNewAddresses:
    'Mehr Adressen ohne Konto haben binnen einer Stunde einen Link angefordert, als NEW_ADDRESSES_PER_HOUR={limit} einer Netzwerkadresse erlaubt, oder fünfmal so viele allen: von {addresses}. Sie bekamen die übliche Antwort und keine Mail. Sind es deine Leute, erhöhe den Wert, setze ALLOWED_EMAIL_DOMAINS oder lade sie ein; wenn nicht, halte diese Adresse fern.',
  noMailServer:
    'SMTP_URL ist nicht gesetzt, also verschickt Berth unter {url} keine Mail: Links stehen nur im Postausgang und im Log. Setze SMTP_URL.',
  outboxOfEachNode:
    'NODE_ADDRESS ist ohne SMTP_URL gesetzt: Keine Mail wird verschickt, und jeder Link steht nur im Postausgang und im Log des Knotens, der gerade führt. Setze SMTP_URL auf allen Knoten.',
  plainMail:
    'SMTP_TLS=opportunistic: Mails mit Anmeldelinks gehen womöglich unverschlüsselt an {host}. Lass SMTP_TLS weg, außer der Weg dorthin ist privat.',
  noNodeSecret:
    'NODE_ADDRESS ist ohne NODE_SECRET gesetzt: Eine Kopie der Datenbank öffnet die Schlüssel, mit denen Tokens signiert werden. Setzen Sie auf allen Knoten dasselbe NODE_SECRET, z. B. aus: openssl rand -base64 32',
  networkFileSystem:
    'Die SQLite-Datenbank liegt auf einem Netzwerk-Dateisystem ({fileSystem}): {folder}. Ihre Sperren und ihr gemeinsamer Speicher gelten auf einem Rechner mit lokaler Platte; zwei Prozesse oder eine Pause des Netzes können sie beschädigen. Setze DATA_DIR auf einen Ordner einer lokalen Platte, oder DATABASE_URL.',
  groupsOfUsers:
    'Anbieter {provider}: Bei GitLab legen Nutzer selbst Gruppen an, und der Claim {claim} macht sie zu Mitgliedern der gleichnamigen Gruppen hier. Nenne in member_groups die, die zählen.',
  noHostRules:
    'HOST_RULES=off: Wenn du sie nicht selbst gesetzt hast, halten keine Regeln Container von diesem Server und seinen Cloud-Metadaten fern.',
  noRequestLimit: 'REQUESTS_PER_MINUTE=0: Eine Adresse darf unbegrenzt Links anfordern. Setze eine Zahl, etwa 600.',
  noMemoryLimit:
    'Der Arbeitsspeicher von {types} ({limit}) ist so groß wie der des Servers ({total}); keine Grenze hindert einen Container daran, ihn ganz zu belegen. Setze im Template einen kleineren Wert für memory.',
  openMetrics:
    'METRICS_LISTEN={listen} antwortet anderen Rechnern, und METRICS_TOKEN ist nicht gesetzt: Alle, die es erreichen, lesen die Messwerte. Setze METRICS_TOKEN.',
  metricsUnreachable:
    'Der Listener der Messwerte, METRICS_LISTEN={listen}, konnte nicht gestartet werden: {reason}. Berth versucht es alle paar Sekunden wieder.',
  auditWebhookLags:
    'AUDIT_WEBHOOK_URL nimmt seit {since} keine Einträge des Audit-Logs an: {reason}. {count} bleiben im Speicher und werden gesendet, sobald es sie annimmt. Siehe docs/how-to/send-audit-entries.md.',
  openVisitors:
    '{type}: access: {access} mit sandbox_visitors: false öffnet die eigenen Container jedes Besuchers für den Besitzer des besuchten Containers, weil alle denselben Ursprung haben. Lass sandbox_visitors weg, außer diese Leute vertrauen einander.',
  publicSandbox:
    '{type}: access: public zeigt Besuchern seine Seiten in einer Sandbox, ohne Cookies, Speicher und WebSockets, weil sie sonst die eigenen Container der Besucher erreichten. Siehe docs/how-to/share-containers.md.',
  authenticatedSandbox:
    '{type}: access: authenticated zeigt Besuchern seine Seiten in einer Sandbox und verweigert, was sie nachladen, weil sie sonst die eigenen Container der Besucher erreichten. Siehe docs/how-to/share-containers.md.',
  sshOnLoopback:
    'SSH_LISTEN={listen} ist nur von diesem Rechner aus erreichbar: Ein Proxy für HTTP reicht kein SSH weiter. Nimm eine andere Adresse, etwa 0.0.0.0:2222.',
  sshOnKubernetes:
    'SSH_LISTEN mit ENGINE=kubernetes: In Pods ist nichts von Berth, darum erreicht SSH nur Container, deren Image das Werkzeug dafür unter /.berth/berth-tool hat. Setze KUBERNETES_TOOL_IMAGE auf das Image von Berth, das es in jeden Pod bringt. Siehe docs/how-to/offer-ssh.md.',
  sshDown: 'SSH_LISTEN: Der SSH-Server nimmt keine Verbindungen an: {problem}. Es wird wieder versucht.',
}
