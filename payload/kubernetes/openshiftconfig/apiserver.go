package openshiftconfig

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// apiServer covers KubeAPIServerConfig.
func (t *translation) apiServer(root object) {
	t.arguments(root, "apiServerArguments")
	t.servingInfo(root.object("servingInfo"))
	t.fill("cors-allowed-origins", root.texts("corsAllowedOrigins")...)
	t.fill("service-cluster-ip-range", root.text("servicesSubnet"))
	t.fill("service-node-port-range", root.text("servicesNodePortRange"))
	t.serviceAccountKeys(root)
	t.admission(root.object("admission"))
	t.audit(root.object("auditConfig"))
	t.authentication(root.object("authConfig"))
	t.storage(root.object("storageConfig"))

	kubelet := root.object("kubeletClientInfo")
	t.fill("kubelet-certificate-authority", kubelet.text("ca"))
	t.fillPair("kubelet-client-certificate", "kubelet-client-key", kubelet)
	kubelet.ignore("port")

	aggregator := root.object("aggregatorConfig")
	t.fillPair("proxy-client-cert-file", "proxy-client-key-file", aggregator.object("proxyClientInfo"))

	root.ignore("consolePublicURL", "imagePolicyConfig", "kubeClientConfig", "minimumKubeletVersion", "oauthConfig",
		"projectConfig", "userAgentMatchingConfig")
}

// fill sets a flag that apiServerArguments has not set; as in the fork, those win over the other fields.
func (t *translation) fill(flag string, values ...string) {
	values = slices.DeleteFunc(values, func(value string) bool { return value == "" })
	if _, set := t.flags[flag]; !set {
		t.set(flag, values)
	}
}

// fillPair takes certFile and keyFile.
func (t *translation) fillPair(certificateFlag, keyFlag string, pair object) {
	t.fill(certificateFlag, pair.text("certFile"))
	t.fill(keyFlag, pair.text("keyFile"))
}

func (t *translation) servingInfo(serving object) {
	if address := serving.text("bindAddress"); address != "" {
		host, port, err := net.SplitHostPort(address)
		if err != nil || port == "" {
			t.doc.problem("servingInfo.bindAddress", "is %q; write ADDRESS:PORT, such as 0.0.0.0:6443 or [::]:6443", address)
		}
		t.fill("bind-address", host)
		t.fill("secure-port", port)
	}
	t.fillPair("tls-cert-file", "tls-private-key-file", serving)
	t.fill("client-ca-file", serving.text("clientCA"))
	t.fill("tls-min-version", serving.text("minTLSVersion"))
	t.fill("tls-cipher-suites", serving.texts("cipherSuites")...)
	t.fill("max-requests-inflight", serving.integer("maxRequestsInFlight"))
	t.fill("min-request-timeout", serving.integer("requestTimeoutSeconds"))
	serving.ignore("bindNetwork")

	var pairs []string
	for _, named := range serving.objects("namedCertificates") {
		certificate, key := named.text("certFile"), named.text("keyFile")
		if certificate == "" || key == "" {
			t.doc.problem(named.field, "has no certFile or no keyFile; give both")
			continue
		}
		pair := certificate + "," + key
		// Without names upstream takes those of the certificate, but not its addresses.
		if names := named.texts("names"); len(names) > 0 {
			pair += ":" + strings.Join(names, ",")
		}
		pairs = append(pairs, pair)
	}
	t.fill("tls-sni-cert-key", pairs...)
}

// serviceAccountKeys names each public key file: upstream reads files only, OpenShift's documents name directories, in which
// keys appear and vanish as they are rotated.
func (t *translation) serviceAccountKeys(root object) {
	paths := root.texts("serviceAccountPublicKeyFiles")
	var files []string
	for i, path := range paths {
		names, isDirectory, err := t.in.ListDirectory(path)
		if err != nil {
			t.doc.problem(fmt.Sprintf("serviceAccountPublicKeyFiles[%d]", i), "%v; put the public keys there or correct the path", err)
			continue
		}
		if !isDirectory {
			files = append(files, path)
			continue
		}
		slices.Sort(names)
		for _, name := range names {
			if strings.HasSuffix(name, ".pub") {
				files = append(files, filepath.Join(path, name))
			}
		}
	}
	if len(paths) > 0 && len(files) == 0 && t.doc.err() == nil {
		t.doc.problem("serviceAccountPublicKeyFiles", "no *.pub file in %s; put the public keys there", strings.Join(paths, ", "))
	}
	t.fill("service-account-key-file", files...)
}

// admission makes upstream's file for the plugins that upstream has. Only PodSecurity of those that OpenShift configures
// is one of them.
func (t *translation) admission(admission object) {
	for field, flag := range map[string]string{
		"enabledPlugins": "enable-admission-plugins", "disabledPlugins": "disable-admission-plugins",
	} {
		if names := admission.texts(field); len(names) > 0 {
			t.flags[flag] = append(t.flags[flag], names...)
		}
	}
	var plugins []any
	var dropped []string
	configs := admission.object("pluginConfig")
	for _, name := range configs.names() {
		config := configs.object(name)
		if name != "PodSecurity" {
			config.ignoreAll()
			dropped = append(dropped, name)
			continue
		}
		plugin := map[string]any{"name": name}
		if location := config.text("location"); location != "" {
			plugin["path"] = location
		}
		if inline := config.object("configuration"); len(inline.content) > 0 {
			inline.ignoreAll()
			plugin["configuration"] = inline.content
		}
		if len(plugin) == 2 {
			plugins = append(plugins, plugin)
			continue
		}
		t.doc.problem(config.field, "must have either a configuration or a location")
	}
	if len(dropped) > 0 {
		t.warn("dropped the configuration of admission plugins that Kubernetes does not know: %s", strings.Join(dropped, ", "))
	}
	if len(plugins) == 0 {
		return
	}
	if _, set := t.flags["admission-control-config-file"]; set {
		t.doc.problem("admission.pluginConfig.PodSecurity", "is given together with apiServerArguments.admission-control-config-file; keep one")
		return
	}
	t.flags["admission-control-config-file"] = []string{t.addFile("admission.yaml", map[string]any{
		"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AdmissionConfiguration", "plugins": plugins,
	})}
}

func (t *translation) audit(audit object) {
	enabled := audit.boolean("enabled")
	policy := audit.object("policyConfiguration")
	policy.ignoreAll()
	values := map[string]string{
		"audit-log-path":            audit.text("auditFilePath"),
		"audit-log-format":          audit.text("logFormat"),
		"audit-log-maxage":          audit.integer("maximumFileRetentionDays"),
		"audit-log-maxbackup":       audit.integer("maximumRetainedFiles"),
		"audit-log-maxsize":         audit.integer("maximumFileSizeMegabytes"),
		"audit-policy-file":         audit.text("policyFile"),
		"audit-webhook-config-file": audit.text("webHookKubeConfig"),
		"audit-webhook-mode":        audit.text("webHookMode"),
	}
	if enabled {
		for flag, value := range values {
			t.fill(flag, value)
		}
	}

	// OpenShift's fork writes an inline policy to the relative path that the document names. An absolute path is the
	// file of another program and is not changed.
	path := strings.Join(t.flags["audit-policy-file"], "")
	if filepath.IsAbs(path) {
		return
	}
	switch {
	case enabled && len(policy.content) > 0:
		t.flags["audit-policy-file"] = []string{t.addFile("audit-policy.yaml", policy.content)}
	case path != "":
		t.doc.problem("apiServerArguments.audit-policy-file",
			"is %q; give the absolute path of a policy, or a policy in auditConfig.policyConfiguration with auditConfig.enabled: true", path)
	}
}

func (t *translation) authentication(auth object) {
	front := auth.object("requestHeader")
	t.fill("requestheader-client-ca-file", front.text("clientCA"))
	t.fill("requestheader-allowed-names", front.texts("clientCommonNames")...)
	t.fill("requestheader-username-headers", front.texts("usernameHeaders")...)
	t.fill("requestheader-group-headers", front.texts("groupHeaders")...)
	t.fill("requestheader-extra-headers-prefix", front.texts("extraHeaderPrefixes")...)

	webhooks := auth.objects("webhookTokenAuthenticators")
	if len(webhooks) > 1 {
		t.doc.problem("authConfig.webhookTokenAuthenticators", "has %d entries; Kubernetes takes one", len(webhooks))
	}
	for _, webhook := range webhooks {
		t.fill("authentication-token-webhook-config-file", webhook.text("configFile"))
		t.fill("authentication-token-webhook-cache-ttl", webhook.text("cacheTTL"))
	}
	auth.ignore("oauthMetadataFile")
}

func (t *translation) storage(storage object) {
	t.fill("etcd-servers", storage.texts("urls")...)
	t.fill("etcd-cafile", storage.text("ca"))
	t.fillPair("etcd-certfile", "etcd-keyfile", storage)
	t.fill("etcd-prefix", storage.text("storagePrefix"))
}

// addFile plans a YAML file and returns the path that it will have.
func (t *translation) addFile(name string, content any) string {
	text, err := yaml.Marshal(content)
	if err != nil {
		t.doc.problem("", "writing %s: %v", name, err)
	}
	t.files = append(t.files, File{Name: name, Content: text})
	return filepath.Join(t.in.Directory, name)
}
