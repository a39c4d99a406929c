#!/bin/bash
# certificates.sh: a certificate authority and every certificate of the cluster, valid for a year, into the state folder.
. "$(dirname "$0")/settings.sh"
mkdir -p "$STATE/pki" && cd "$STATE/pki"
[ ! -f done ] || exit 0
key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key" 2>/dev/null; }
sign() { # name, subject, alternative names
  key "$1"
  printf 'keyUsage=critical,digitalSignature,keyEncipherment\nextendedKeyUsage=serverAuth,clientAuth\n%s\n' "${3:+subjectAltName=$3}" > "$1.ext"
  openssl req -new -key "$1.key" -subj "$2" | openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 365 -extfile "$1.ext" -out "$1.crt" 2>/dev/null
  rm "$1.ext"
}
kubeconfig() { # name
  cat > "$1.conf" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://$API:6443", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: u, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
END
}
key ca
openssl req -x509 -new -key ca.key -subj /CN=berth-test-cluster -days 365 -out ca.crt -addext keyUsage=critical,keyCertSign,digitalSignature,cRLSign
sign apiserver /CN=kube-apiserver "IP:$API,IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
sign apiserver-kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
sign admin /O=system:masters/CN=admin && kubeconfig admin
sign kcm /CN=system:kube-controller-manager && kubeconfig kcm
sign sched /CN=system:kube-scheduler && kubeconfig sched
for i in 1 2; do sign "kn$i" "/O=system:nodes/CN=system:node:kn$i" "IP:10.250.$i.2,DNS:kn$i" && kubeconfig "kn$i"; done
openssl genrsa -out sa.key 2048 2>/dev/null
openssl rsa -in sa.key -pubout -out sa.pub 2>/dev/null
touch done
