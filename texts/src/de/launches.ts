import type { Translated } from '#/english.ts'

export const launches: Translated<'launches'> = {
  homeNotWritable:
    'Du kannst in deinem Home keine Dateien speichern: Das Programm dieses Containers läuft als Konto {program}, und das Home gehört dem Konto {owner}. Was du anderswo im Container speicherst, geht mit ihm verloren. Sag es deinem Administrator, der den Container stoppen und `berth homes chown {id}` aufrufen kann, was das Home dem Konto des Programms gibt, oder diesen Typ als Konto {owner} ausführen.',
  fullLayer:
    'Dieser Container wurde gestoppt, weil er außerhalb deines Home-Ordners {used} geschrieben hatte: mehr, als er darf. Beim nächsten Start wird er neu erstellt, ohne diese Dateien; die Dateien in deinem Home-Ordner bleiben erhalten.',
  homeSilent:
    'Der Dateiserver mit deinem Home antwortet nicht, daher kann das Programm dieses Containers dort gerade keine Dateien lesen oder speichern. Deine Dateien bleiben dort erhalten. Wenn das länger als ein paar Minuten dauert, sag es deinem Administrator.',
  homeStale:
    'Dieser Container hat die Verbindung zu deinem Home auf einem Dateiserver verloren, der ersetzt oder neu eingehängt wurde: Sein Programm kann dort keine Dateien lesen oder speichern. Starte den Container neu; wenn das nicht hilft, sag es deinem Administrator.',
  engine:
    'Die Container-Engine antwortet im Moment nicht. Es geht nichts verloren; versuche es in einer Minute noch einmal.',
  full: 'Der Server hat gerade keinen Platz für einen weiteren Container. Es geht nichts verloren; versuche es in ein paar Minuten noch einmal.',
  fullOf:
    'Der Cluster hat gerade keinen Platz für einen weiteren Container, weil ein Kontingent ausgeschöpft ist: {limit}. Es geht nichts verloren; stoppe einen Container, den du nicht brauchst, oder wende dich an deinen Administrator.',
  evicted:
    'Der Cluster hat deinen Container beendet: Die Maschine, auf der er lief, wurde abgeschaltet oder geräumt, oder ihr fehlte Arbeits- oder Plattenspeicher. Dein Programm hat nichts falsch gemacht. Was in seinem Arbeitsspeicher war, ist verloren; die Dateien in seinem Home-Ordner bleiben erhalten, und beim nächsten Start läuft er anderswo weiter.',
  evictedAtLimit:
    'Der Cluster hat deinen Container beendet, weil er außerhalb deines Home-Ordners mehr geschrieben hatte, als er darf. Beim nächsten Start wird er neu erstellt, ohne diese Dateien; die Dateien in deinem Home-Ordner bleiben erhalten.',
  nodeLost:
    'Die Maschine, auf der dein Container lief, antwortet nicht. Deshalb ist nicht bekannt, ob dein Programm beendet ist, und ein zweites darf nicht in dieselben Dateien schreiben. Deine Dateien bleiben erhalten. Er startet wieder, sobald die Maschine zurück ist oder dein Administrator sie aus dem Cluster entfernt hat.',
  noImage:
    'Das Image dieses Containers ist nicht auf diesem Server und konnte nicht geholt werden. Bitte deinen Administrator, es bereitzustellen.',
  outOfMemory:
    'Das Programm in diesem Container brauchte mehr Arbeitsspeicher, als es haben darf, und wurde deshalb beendet. Bitte deinen Administrator um mehr.',
  crashed:
    'Das Programm in diesem Container endete gleich nach dem Start. Die letzten Zeilen seiner Ausgabe nennen vielleicht den Grund.',
  crashedWith:
    'Das Programm in diesem Container endete gleich nach dem Start (Exit-Code {exitCode}). Die letzten Zeilen seiner Ausgabe nennen vielleicht den Grund.',
  notExecutable:
    'Das Programm dieses Containers lässt sich nicht ausführen: Sein Image oder der Befehl, mit dem es gestartet wird, ist falsch. Wende dich an deinen Administrator.',
  noCommand:
    'Das Image dieses Containers nennt kein Programm, und seine Vorlage auch nicht (`command`), also gibt es nichts zu starten. Wende dich an deinen Administrator.',
  ended: 'Sein Programm hat sich von selbst beendet. Den Grund findet sein Besitzer vielleicht unter Log.',
  endedWith:
    'Sein Programm hat sich von selbst beendet (Exit-Code {exitCode}). Den Grund findet sein Besitzer vielleicht unter Log.',
  commandMissing:
    'Ein Befehl wurde in diesem Container nicht gefunden oder ließ sich nicht ausführen (Exit-Code {exitCode}). Die letzten Zeilen seiner Ausgabe nennen ihn vielleicht. Ein neuer Start hilft nicht: Wende dich an deinen Administrator.',
  failed:
    'Der Container konnte nicht gestartet werden. Versuche es noch einmal, oder wende dich an deinen Administrator.',
  folderSilent:
    'Ein Dateiserver mit Ordnern dieses Containers, etwa deinem Home, antwortet nicht. Deine Dateien bleiben dort erhalten. Starte ihn in ein paar Minuten noch einmal; wenn das nicht hilft, sag es deinem Administrator.',
  folderMissing:
    'Ein Ordner dieses Containers, etwa dein Home auf einem Dateiserver, fehlt oder lässt sich nicht benutzen; er wurde deshalb nicht gestartet. Sag es deinem Administrator: Im Log des Servers steht, welcher Ordner es ist.',
  placeTaken:
    'In diesem Container wird unter {path} ein Ordner angezeigt. Was jetzt dort oder darüber liegt, ist kein Ordner; er wurde deshalb nicht gestartet. An deinen Dateien hat sich nichts geändert. Lade unter Dateien auf seiner Karte herunter, was dort liegt, wenn du es brauchst, und lösche es; starte den Container dann noch einmal.',
  starterFiles:
    'Die Dateien, die in diesen Container gehören, konnten nicht geholt werden; er wurde deshalb nicht gestartet. An deinen Dateien hat sich nichts geändert. Wende dich an deinen Administrator: Im Log des Servers steht der Grund.',
  waitsForGpu: 'Alle GPUs sind belegt. Dein Container wartet auf eine: Position {place} von {waiting}.',
  waits: 'Dein Container ist in der Warteschlange: Position {place} von {waiting}.',
  pulling: 'Das Image deines Containers wird noch geholt: {done} von {total} Schichten sind da.',
  starting: 'Dein Container wird noch gestartet.',
}
