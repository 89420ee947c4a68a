module slipway/payload/pause

go 1.26.0
