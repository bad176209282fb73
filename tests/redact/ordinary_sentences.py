"""Ordinary sentences with words for passwords, keys, tokens and secrets that contain none, by language."""

from __future__ import annotations

from typing import Final

ORDINARY: Final[dict[str, str]] = {
    "English": """
The password's minimum length was raised to 14 characters in release 2.3.
The password was changed to use Argon2id instead of MD5.
The passphrase is derived with PBKDF2 and 600_000 iterations.
The password is read from DB_PASSWORD_FILE at start-up.
The password is stored in Vault2 under kv/team-7.
The password is user_input until step3 validates it.
The password is an AES-256 key in disguise, says the RFC.
We changed the password to a 16-character minimum last sprint.
Please pass user_id2 and tenant_id to the handler.
You can pass int32array or float64array here.
Pass request2context through to the second middleware.
The second pass layer2norm is slower than the first.
All tests pass on python3.11 and node20.
I pass fixture_v2 into the function, then it passes.
The boarding pass gate22 screen still shows the old token.
The primary key is order_id2, the foreign key is user_id3.
The sort key is created_at_2024, the partition key is tenant_7.
The key is to keep v2_endpoints alive until March.
My key takeaway is that step2 costs more than step3.
The token is 3600 seconds old, so the refresh token kicks in.
Each token costs 0.002 cents in gpt-4o-mini-2024-07-18.
The secret is mounted at /run/secrets/db1 by the operator.
The secret is named app-tls-2 in namespace prod-eu-1.
The password field is called passwd_input_2 in form B12.
The password is sent as base64_url over HTTP2.
The password is case-sensitive and time-limited since v2.
The password reset mail uses template_7 with a one-time link.
The password is the 12-digit number printed on page 3.
The admin's password is checked by check_password2 first.
Our password policy follows NIST 800-63B.
""",
    "German": """
Das Passwort lautet bei jedem Mandanten anders, siehe Ticket OPS-4711.
Das Passwort wurde auf 12 Zeichen verlängert.
Das Passwort ist mit SHA256 gehasht und mit Salt2 versehen.
Das Passwort wird in Schritt2 gegen die Tabelle user_login2 geprüft.
Der Schlüssel ist die Spalte kunden_id2 in Tabelle T7.
Das Token ist nach 15 Minuten abgelaufen, siehe RFC6749.
Das Kennwort ist base64-kodiert, nicht verschlüsselt.
Das Geheimnis liegt im Namespace prod-eu-1 als app-tls-2.
""",
    "French": """
Le mot de passe est haché avec bcrypt2 avant l'étape3.
Le mot de passe est lu dans DB_PASSWORD_2 au démarrage.
Le mot de passe a été changé par l'administrateur le 12 mars.
La clé primaire est commande_id2 et le jeton expire en 60s.
Le jeton est vérifié par le module auth2 à chaque requête.
Le secret est monté dans /run/secrets/db1.
""",
    "Spanish": """
La contraseña es de 12 caracteres como mínimo desde la versión2.
La contraseña fue cambiada por el administrador en el paso3.
La clave es usuario_id2 en la tabla pedidos.
La clave primaria es pedido_id7 y la foránea es cliente_id3.
El token es válido durante 3600s según RFC6749.
El secreto está en el espacio prod-eu-1.
""",
    "Italian": """
La password è lunga almeno 12 caratteri dalla versione2.
La password è stata cambiata in seguito al ticket OPS-4711.
La chiave è ordine_id2 nella tabella t7.
Il token è valido per 3600s e poi scade.
""",
    "Portuguese": """
A senha é verificada pelo módulo auth2 no passo3.
A senha foi alterada para ter 12 caracteres.
A chave é pedido_id2 na tabela t7.
O token é renovado a cada 60min pelo serviço v2.
""",
    "Dutch": """
Het wachtwoord is minstens 12 tekens lang sinds versie2.
Het wachtwoord is gewijzigd in stap3 van de migratie.
De sleutel is klant_id2 in tabel t7.
Het token is 3600s geldig volgens RFC6749.
""",
}
"""One sentence a line."""
